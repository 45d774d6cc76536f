import { readFile } from "node:fs/promises";
import type { KnownAgent } from "@rockbot/a2a/ask";
import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ConfigError } from "@rockbot/contracts";
import { readAgentsFile } from "./read-agents-file.ts";

export interface WatchAgentsFileOptions {
  readonly log: Logger;
  /** How often the file is looked at, in milliseconds. @default 1_000 */
  readonly everyMs?: number | undefined;
}

/**
 * Hands on the agents of the file whenever its content changes, until disposed. A change that has faults changes
 * nothing; they are logged.
 * @param text the content that was read already
 */
export function watchAgentsFile(
  file: string,
  text: string,
  apply: (agents: readonly KnownAgent[]) => Promise<void>,
  { log, everyMs = 1_000 }: WatchAgentsFileOptions,
): AsyncDisposable {
  let seen = text;
  return startLoop(everyMs, async () => {
    const now = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => `unreadable: ${error.code}`);
    if (now === seen) return;
    seen = now;
    try {
      const agents = readAgentsFile(file);
      await apply(agents);
      log.info({ file, agents: agents.length }, "reloaded the file of agents");
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.error({ file, faults: error.faults }, "refused the changed file of agents, and keeps what was loaded before");
    }
  });
}

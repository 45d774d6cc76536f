import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ConfigError } from "@rockbot/process/config";
import { variableFiles } from "./expand-variables.ts";
import { readServerFile, type ServerFile } from "./read-servers.ts";

export interface WatchServersOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** How often the file is looked at, in milliseconds. @default 1_000 */
  readonly everyMs?: number | undefined;
}

/**
 * Hands on what the file says, now and whenever it changes, until disposed. The content is compared, not the time of
 * change, so that a mounted file that is swapped for another is noticed, and one that is written anew is not; so are
 * the files in which its variables lie, and each `envFile`. A file that has faults later changes nothing; they are
 * logged.
 * @throws {ConfigError} if the file has faults now
 */
export function watchServers(
  file: string,
  apply: (content: ServerFile) => void,
  { env, log, everyMs = 1_000 }: WatchServersOptions,
): AsyncDisposable {
  let seen: string | undefined;
  let told: string | undefined;
  const envFiles = new Map<string, string | undefined>();
  const read = (): ServerFile => {
    envFiles.clear();
    const content = readServerFile(file, env, envFiles);
    const said = content.warnings.join("\n");
    if (said !== told && said !== "")
      log.warn({ file, warnings: content.warnings }, "the file of MCP servers says what has no effect");
    told = said;
    apply(content);
    return content;
  };
  read();
  return startLoop(everyMs, async () => {
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => `unreadable: ${error.code}`);
    const hash = createHash("sha256")
      .update(JSON.stringify([text, ...variableFiles(text, env)]))
      .digest("base64url");
    const same = await Promise.all(
      [...envFiles].map(async ([path, before]) => (await readFile(path, "utf8").catch(() => undefined)) === before),
    );
    if (hash === seen && same.every(Boolean)) return;
    const isFirst = seen === undefined;
    seen = hash;
    try {
      const content = read();
      if (!isFirst) log.info({ file, servers: content.servers.length }, "reloaded the file of MCP servers");
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.error(
        { file, faults: error.faults },
        "refused the changed file of MCP servers, and keeps the servers loaded before",
      );
    }
  });
}

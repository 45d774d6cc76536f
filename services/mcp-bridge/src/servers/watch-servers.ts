import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { startLoop } from "@rockbot/async";
import type { Logger } from "@rockbot/bus";
import { ConfigError } from "@rockbot/config";
import { readServers } from "./read-servers.ts";
import type { ServerPool } from "./server-pool.ts";

export interface WatchServersOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** How often the file is looked at, in milliseconds. @default 1_000 */
  readonly everyMs?: number | undefined;
}

/**
 * Keeps the pool as the file says, from now on until disposed. The content is compared, not the time of change, so that a mounted file that is
 * swapped for another is noticed, and one that is written anew is not. A file that has faults later changes nothing; they are logged.
 * @throws {ConfigError} if the file has faults now
 */
export function watchServers(file: string, pool: ServerPool, { env, log, everyMs = 1_000 }: WatchServersOptions): AsyncDisposable {
  let seen: string | undefined;
  pool.apply(readServers(file, env));
  return startLoop(everyMs, async () => {
    const content = await readFile(file).catch((error: NodeJS.ErrnoException) => `unreadable: ${error.code}`);
    const hash = createHash("sha256").update(content).digest("base64url");
    if (hash === seen) return;
    const isFirst = seen === undefined;
    seen = hash;
    try {
      pool.apply(readServers(file, env));
      if (!isFirst) log.info({ file, servers: pool.servers.length }, "the MCP servers were read anew");
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.error({ file, faults: error.faults }, "the MCP servers stay as they are: their file has faults");
    }
  });
}

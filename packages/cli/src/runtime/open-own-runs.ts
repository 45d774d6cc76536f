import { dirname, resolve } from "node:path";
import type { Logger } from "@rockbot/bus";
import { makeDataDirectory } from "@rockbot/records";
import { openSqliteRunStore, type RunStore } from "@rockbot/runs";

/**
 * The runs of all services of one process, in a file that outlives it. Where the file cannot be used, as another process
 * has it, they are kept in memory: nothing else depends on them.
 */
export async function openOwnRuns(file: string, log: Logger): Promise<RunStore> {
  const path = resolve(file);
  try {
    makeDataDirectory(dirname(path), { setBy: "--runs" });
    return await openSqliteRunStore(path);
  } catch (error) {
    log.warn(
      { reason: String(error) },
      "calls that wait for people are kept in memory only, and end with this process",
    );
    return openSqliteRunStore(undefined);
  }
}

import { join } from "node:path";
import type { Logger } from "@rockbot/bus";
import { makeDataDirectory } from "@rockbot/records";
import { createMemoryRunStore, openSqliteRunStore, type RunStore } from "@rockbot/runs";

/** The folder of the data of this process itself, where DATA_DIRECTORY does not put all data. */
const OWN_FOLDER = ".rockbot";
const FILE = "runs.db";

/**
 * The runs of all services of one process, in a file that outlives it. Where the file cannot be used, as another process
 * has it, they are kept in memory: nothing else depends on them.
 */
export async function openOwnRuns(env: Readonly<Record<string, string | undefined>>, log: Logger): Promise<RunStore> {
  try {
    return await openSqliteRunStore(join(makeDataDirectory(env["DATA_DIRECTORY"] || OWN_FOLDER), FILE));
  } catch (error) {
    log.warn(
      { reason: String(error) },
      "calls that wait for people are kept in memory only, and end with this process",
    );
    return createMemoryRunStore();
  }
}

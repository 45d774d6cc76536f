import type { RunStore } from "../run-store.ts";
import type { SqliteRunStoreOptions } from "./sqlite/sqlite-run-store.ts";

/**
 * Runs in a file of one process, or in memory, which ends with the process. A change is in the file before it is
 * acknowledged: it outlives the process and the machine. A start that was forgotten would be made again.
 * @throws {StoreUnavailableError} if the file cannot be read, another process uses it, or newer code made it
 */
export async function openSqliteRunStore(
  file: string | undefined,
  options: SqliteRunStoreOptions = {},
): Promise<RunStore> {
  return (await import("./sqlite/sqlite-run-store.ts")).openRunDatabase(file, options);
}

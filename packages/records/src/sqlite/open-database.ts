import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { backoffMs } from "@rockbot/base";
import { StoreUnavailableError } from "../store-unavailable-error.ts";

/** The name of a database that lies in no file, and ends with the process. */
export const IN_MEMORY = ":memory:";
/** How long SQLite itself waits for another process: it holds up the event loop. Longer waits are between attempts. */
const HELD_MS = 10;

/** The tables of one kind of data, and how long to wait for them. */
export interface OpenDatabaseOptions {
  /** What is kept, in words: "the knowledge". */
  readonly holds: string;
  /** The steps from each version to the next. A step that was released never changes. */
  readonly migrations: readonly string[];
  /** Functions of ours that the steps use, by name. */
  readonly functions?: Readonly<Record<string, (...texts: (string | null)[]) => string>> | undefined;
  /** How long a change waits for other processes. */
  readonly busyTimeoutMs: number;
  /** True if no other process may use the file until it is closed here. @default false */
  readonly isExclusive?: boolean | undefined;
}

/**
 * Opens the database of a file, and brings it to the version of this code.
 * @throws {StoreUnavailableError} if it cannot be read, or newer code made it
 */
export async function openDatabase(file: string, options: OpenDatabaseOptions): Promise<DatabaseSync> {
  let db: DatabaseSync | undefined;
  try {
    if (file !== IN_MEMORY) closeSync(openSync(file, "a", 0o600)); // the files beside it get the same rights
    db = new DatabaseSync(file, { timeout: HELD_MS });
    const opened = db;
    if (options.isExclusive === true) opened.exec("PRAGMA locking_mode = EXCLUSIVE");
    await whileBusy(options.busyTimeoutMs, () => opened.exec("PRAGMA journal_mode = WAL"));
    db.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA mmap_size = 268435456");
    for (const [name, run] of Object.entries(options.functions ?? {}))
      db.function(name, { deterministic: true, varargs: true }, (...texts) =>
        run(...texts.map((text) => (text === null ? null : String(text)))),
      );
    if (versionOf(db) !== options.migrations.length) await migrate(db, file, options);
    return db;
  } catch (error) {
    db?.close();
    throw unavailable(`open ${options.holds} of ${file}`, error, options);
  }
}

/** Runs `change` in a transaction of its own that no other process writes beside. It is there in full or not at all. */
export async function inTransaction<T>(
  db: DatabaseSync,
  busyTimeoutMs: number,
  change: () => Promise<T> | T,
): Promise<T> {
  await whileBusy(busyTimeoutMs, () => db.exec("BEGIN IMMEDIATE"));
  try {
    const result = await change();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

async function migrate(
  db: DatabaseSync,
  file: string,
  { holds, migrations, busyTimeoutMs }: OpenDatabaseOptions,
): Promise<void> {
  await inTransaction(db, busyTimeoutMs, () => {
    const version = versionOf(db);
    if (version > migrations.length) {
      throw new StoreUnavailableError(
        `Cannot open ${holds} of ${file}: a newer RockBot made it (version ${version}, this one knows ${migrations.length}). Update this one`,
      );
    }
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

const versionOf = (db: DatabaseSync): number => Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);

/** Tries again while another process writes. @throws what it throws when the time is over */
async function whileBusy<T>(timeoutMs: number, attempt: () => T): Promise<T> {
  const endAt = performance.now() + timeoutMs;
  for (let failures = 1; ; failures++) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endAt) throw error;
      await setTimeout(backoffMs(failures, { baseMs: 2, maxMs: 50, leastPart: 0.2 }));
    }
  }
}

const SQLITE_BUSY = 5;

const isBusy = (error: unknown): boolean =>
  ((error as { readonly errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;

/** An error of SQLite in words of ours; any other as it is. */
export function unavailable(
  what: string,
  error: unknown,
  { isExclusive = false }: Pick<OpenDatabaseOptions, "isExclusive"> = {},
): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof StoreUnavailableError || code === undefined) return error;
  const busy = isExclusive ? "another process uses it" : "other processes write to it all the time";
  const why = isBusy(error) ? busy : code === "ERR_SQLITE_ERROR" ? message : code;
  return new StoreUnavailableError(`Cannot ${what}: ${why}`, { cause: error });
}

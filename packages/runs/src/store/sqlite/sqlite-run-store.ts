import type { DatabaseSync } from "node:sqlite";
import { StoreFullError } from "@rockbot/records";
import { IN_MEMORY, openDatabase, unavailable } from "@rockbot/records/sqlite";
import {
  END_KEPT_MS,
  MAX_ENDED_BYTES,
  MAX_ENDED_RUNS,
  MAX_OPEN_BYTES,
  MAX_OPEN_RUNS,
  type Run,
  type RunKey,
  RunState,
} from "../../run.ts";
import type { Due, EndedRun, RunStore, StoredRun } from "../../run-store.ts";
import { dueAt } from "../../transitions.ts";
import { tooManyOpen } from "../too-many-open.ts";

/** Step n migrates the database from version n to n + 1. A step that was released never changes. */
const migrations: readonly string[] = [
  `
  CREATE TABLE run (
    service TEXT NOT NULL,
    caller TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    due_at INTEGER,
    created_at INTEGER NOT NULL,
    forgotten_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (service, caller, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_due ON run (service, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX run_open ON run (service, caller, created_at) WHERE is_open = 1;
  CREATE INDEX run_forgotten ON run (forgotten_at);
  `,
  `
  ALTER TABLE run ADD COLUMN ended_at INTEGER;
  CREATE INDEX run_ended ON run (service, ended_at) WHERE ended_at IS NOT NULL;
  `,
  `CREATE INDEX run_ended_of ON run (service, caller, ended_at, id, bytes) WHERE ended_at IS NOT NULL`,
];

const BUSY_MS = 2_000;

/** How a store in SQLite tells the time. */
export interface SqliteRunStoreOptions {
  /** The clock, in Unix milliseconds. @default that of the process */
  readonly clock?: (() => number) | undefined;
}

/** See openSqliteRunStore, which loads SQLite only when it is asked. */
export async function openRunDatabase(
  file: string | undefined,
  { clock = Date.now }: SqliteRunStoreOptions,
): Promise<RunStore> {
  const db = await openDatabase(file ?? IN_MEMORY, {
    holds: "the runs",
    migrations,
    busyTimeoutMs: BUSY_MS,
    isExclusive: true,
  });
  db.exec("PRAGMA synchronous = FULL");
  return new SqliteRunStore(db, clock);
}

class SqliteRunStore implements RunStore {
  readonly forgetsMs = 0;
  readonly #db: DatabaseSync;
  readonly #clock: () => number;

  constructor(db: DatabaseSync, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  create(run: Run): Promise<boolean> {
    return this.#ask("write a run", () => {
      const { service, caller } = run;
      this.#db.prepare("DELETE FROM run WHERE forgotten_at <= ?").run(this.#clock());
      if (this.#find(run) !== undefined) return false;
      const record = JSON.stringify(run);
      // Nothing comes between these steps: the file is this process's alone, and none of them waits.
      const open = this.#db
        .prepare(
          "SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM run WHERE service = ? AND caller = ? AND is_open = 1",
        )
        .get(service, caller) as { n: number; bytes: number };
      if (open.n >= MAX_OPEN_RUNS || open.bytes + Buffer.byteLength(record) > MAX_OPEN_BYTES)
        throw new StoreFullError(tooManyOpen(caller, service));
      this.#db
        .prepare(`INSERT INTO run VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, NULL)`)
        .run(...this.#columns(run, record));
      return true;
    });
  }

  read(key: RunKey): Promise<StoredRun | undefined> {
    return this.#ask("read a run", () => {
      const row = this.#find(key);
      return row === undefined ? undefined : this.#stored(row);
    });
  }

  replace({ version }: StoredRun, run: Run): Promise<boolean> {
    return this.#ask("change a run", () => {
      const [service, caller, id, ...columns] = this.#columns(run, JSON.stringify(run));
      const { changes } = this.#db
        .prepare(
          `UPDATE run SET version = version + 1, is_open = ?, due_at = ?, created_at = ?, forgotten_at = ?, bytes = ?, record = ?,
           ended_at = CASE WHEN ? THEN coalesce(ended_at, ?) END
           WHERE service = ? AND caller = ? AND id = ? AND version = ?`,
        )
        .run(...columns, run.state === RunState.Ended ? 1 : 0, this.#clock(), service, caller, id, version);
      if (changes === 1 && run.state === RunState.Ended) this.#boundEnded(run);
      return changes === 1;
    });
  }

  due(service: string, limit: number): Promise<Due> {
    return this.#ask("look for runs that are due", () => {
      const now = this.#clock();
      const rows = this.#db
        .prepare(
          "SELECT version, record, due_at FROM run WHERE service = ? AND due_at IS NOT NULL ORDER BY due_at LIMIT ?",
        )
        .all(service, limit + 1) as unknown as (Row & { readonly due_at: number })[];
      const due = rows.slice(0, limit).filter(({ due_at }) => due_at <= now);
      const next = rows[due.length];
      return {
        runs: due.map((row) => this.#stored(row)),
        nextMs: next === undefined ? undefined : Math.max(0, next.due_at - now),
      };
    });
  }

  open(service: string, limit: number): Promise<readonly Run[]> {
    return this.#ask("list runs", () => {
      const rows = this.#db
        .prepare(
          `SELECT version, record FROM run WHERE service = ? AND is_open = 1
           ORDER BY json_extract(record, '$.state') <> '${RunState.Parked}', created_at LIMIT ?`,
        )
        .all(service, limit) as unknown as Row[];
      return rows.map((row) => this.#stored(row).run);
    });
  }

  ended(service: string, since: number, limit: number): Promise<readonly EndedRun[]> {
    return this.#ask("list runs that have ended", () => {
      const rows = this.#db
        .prepare(
          "SELECT version, record, ended_at FROM run WHERE service = ? AND ended_at >= ? ORDER BY ended_at LIMIT ?",
        )
        .all(service, Math.max(since, this.#clock() - END_KEPT_MS), limit) as unknown as (Row & {
        readonly ended_at: number;
      })[];
      return rows.map((row) => ({ run: this.#stored(row).run, notedAt: row.ended_at }));
    });
  }

  now(): Promise<number> {
    return Promise.resolve(this.#clock());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.close();
  }

  #boundEnded({ service, caller }: Run): void {
    this.#db
      .prepare(
        `DELETE FROM run WHERE service = ?1 AND caller = ?2 AND id IN (
           SELECT id FROM (
             SELECT id, row_number() OVER newest AS n, sum(bytes) OVER newest AS total
             FROM run WHERE service = ?1 AND caller = ?2 AND ended_at IS NOT NULL
             WINDOW newest AS (ORDER BY ended_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
           ) WHERE n > ?3 OR total > ?4
         )`,
      )
      .run(service, caller, MAX_ENDED_RUNS, MAX_ENDED_BYTES);
  }

  #find({ service, caller, toolCallId }: RunKey): Row | undefined {
    return this.#db
      .prepare("SELECT version, record FROM run WHERE service = ? AND caller = ? AND id = ? AND forgotten_at > ?")
      .get(service, caller, toolCallId, this.#clock()) as Row | undefined;
  }

  #stored({ version, record }: Row): StoredRun {
    return { run: JSON.parse(record) as Run, version, now: this.#clock() };
  }

  /** The values of a row in the order of the table, without the version. */
  #columns(run: Run, record: string) {
    const { service, caller, toolCallId, state, createdAt, expiresAt, end } = run;
    return [
      service,
      caller,
      toolCallId,
      state === RunState.Ended ? 0 : 1,
      dueAt(run) ?? null,
      createdAt,
      Math.max(expiresAt, end?.at ?? 0) + END_KEPT_MS,
      Buffer.byteLength(record),
      record,
    ] as const;
  }

  async #ask<T>(what: string, ask: () => T): Promise<T> {
    try {
      return ask();
    } catch (error) {
      throw unavailable(what, error);
    }
  }
}

interface Row {
  readonly version: number;
  readonly record: string;
}

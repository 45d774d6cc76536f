import { join } from "node:path";
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { type ChangeOutcome, type DefinitionStore, type KeptDefinition, MAX_SWITCHED, MAX_VISIBLE } from "@rockbot/agent";
import { StoreUnavailableError } from "@rockbot/records";
import { inTransaction, openDatabase, unavailable } from "@rockbot/records/sqlite";
import { COLUMNS, definitionOf, valuesOf } from "../definition-row.ts";
import { MAX_LISTED } from "../max-listed.ts";
import { migrations } from "./migrations.ts";

export interface OpenSqliteDefinitionStoreOptions {
  /** How long a change waits for others. @default 10_000 */
  readonly busyTimeoutMs?: number | undefined;
}

const FILE = "agents.db";

/**
 * Keeps definitions in a file of the folder, which several processes may use at once.
 * @throws {StoreUnavailableError} if the file cannot be opened
 */
export async function openSqliteDefinitionStore(folder: string, { busyTimeoutMs = 10_000 }: OpenSqliteDefinitionStoreOptions = {}): Promise<DefinitionStore> {
  const file = join(folder, FILE);
  return new SqliteDefinitionStore(file, await openDatabase(file, { holds: "the agents", migrations, busyTimeoutMs }), busyTimeoutMs);
}

type Row = Readonly<Record<string, SQLOutputValue>>;

class SqliteDefinitionStore implements DefinitionStore {
  readonly where: string;
  readonly #db: DatabaseSync;
  readonly #busyTimeoutMs: number;
  /** One change after the other, as a connection has one transaction. */
  #changing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(file: string, db: DatabaseSync, busyTimeoutMs: number) {
    this.where = `the file ${file}`;
    this.#db = db;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  create(definition: KeptDefinition, maxOfMaker: number): Promise<"created" | "taken" | "there" | "full"> {
    return this.#change("save to", () => {
      if (this.#one("SELECT 1 FROM definition WHERE id = ?", definition.id) !== undefined) return "there";
      if (this.#isTaken(definition)) return "taken";
      const count = this.#one("SELECT count(*) AS count FROM definition WHERE maker = ?", definition.maker);
      if (Number(count?.["count"]) >= maxOfMaker) return "full";
      this.#run(`INSERT INTO definition (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`, ...valuesOf(definition));
      return "created";
    });
  }

  async get(id: string): Promise<KeptDefinition | undefined> {
    const row = this.#read(() => this.#one("SELECT * FROM definition WHERE id = ?", id));
    return row === undefined ? undefined : definitionOf(row);
  }

  async visibleTo(caller: string): Promise<readonly KeptDefinition[]> {
    const sql = "SELECT * FROM definition WHERE maker = ?1 OR approved_hash = hash ORDER BY maker <> ?1, created_at, id LIMIT ?2";
    return this.#read(() => this.#db.prepare(sql).all(caller, MAX_VISIBLE)).map(definitionOf);
  }

  async all(): Promise<readonly KeptDefinition[]> {
    return this.#read(() => this.#db.prepare("SELECT * FROM definition ORDER BY name, maker LIMIT ?").all(MAX_LISTED)).map(definitionOf);
  }

  update(definition: KeptDefinition): Promise<ChangeOutcome | "taken"> {
    return this.#change("save to", () => {
      const outcome = this.#outcome(definition.id, ({ version }) => version === definition.version - 1);
      if (outcome !== "changed") return outcome;
      if (this.#isTaken(definition)) return "taken";
      // An approval stays as it is: it is an operator's, and of one hash.
      const { name, hash, body } = Object.fromEntries(valuesOf(definition).map((value, i) => [COLUMNS[i], value]));
      const values = [name, hash, body].map((value) => value ?? null);
      this.#run(
        "UPDATE definition SET name = ?, hash = ?, body = ?, version = ?, updated_at = ? WHERE id = ?",
        ...values,
        definition.version,
        definition.updatedAt,
        definition.id,
      );
      return "changed";
    });
  }

  remove(id: string, version: number): Promise<ChangeOutcome> {
    return this.#change("remove from", () => {
      const outcome = this.#outcome(id, (row) => row["version"] === version);
      if (outcome !== "changed") return outcome;
      this.#run("DELETE FROM definition WHERE id = ?", id);
      this.#run("DELETE FROM switched WHERE definition = ?", id);
      return "changed";
    });
  }

  approve(id: string, hash: string | undefined): Promise<ChangeOutcome> {
    return this.#change("approve in", () => {
      const outcome = this.#outcome(id, (row) => hash === undefined || row["hash"] === hash);
      if (outcome === "changed") this.#run("UPDATE definition SET approved_hash = ? WHERE id = ?", hash ?? null, id);
      return outcome;
    });
  }

  switchSession(caller: string, session: string, id: string | undefined): Promise<void> {
    return this.#change("save to", () => {
      this.#run("DELETE FROM switched WHERE caller = ? AND session = ?", caller, session);
      if (id === undefined) return;
      this.#run("INSERT INTO switched (caller, session, definition) VALUES (?, ?, ?)", caller, session, id);
      this.#run("DELETE FROM switched WHERE seq <= (SELECT max(seq) FROM switched) - ?", MAX_SWITCHED);
    });
  }

  async switchedTo(caller: string, session: string): Promise<string | undefined> {
    const row = this.#read(() => this.#one("SELECT definition FROM switched WHERE caller = ? AND session = ?", caller, session));
    return row?.["definition"] as string | undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#changing;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#db.close();
  }

  #isTaken({ id, maker, name }: KeptDefinition): boolean {
    return this.#one("SELECT 1 FROM definition WHERE maker = ? AND name = ? AND id <> ?", maker, name, id) !== undefined;
  }

  #outcome(id: string, isMeant: (row: Row) => boolean): ChangeOutcome {
    const row = this.#one("SELECT * FROM definition WHERE id = ?", id);
    return row === undefined ? "gone" : isMeant(row) ? "changed" : "stale";
  }

  #change<T>(what: string, change: () => T): Promise<T> {
    const changing = this.#changing.then(async () => {
      try {
        this.#check();
        return await inTransaction(this.#db, this.#busyTimeoutMs, change);
      } catch (error) {
        throw unavailable(`${what} ${this.where}`, error);
      }
    });
    this.#changing = changing.catch(() => {});
    return changing;
  }

  /** @throws {StoreUnavailableError} */
  #read<T>(look: () => T): T {
    try {
      this.#check();
      return look();
    } catch (error) {
      throw unavailable(`read in ${this.where}`, error);
    }
  }

  #one(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#db.prepare(sql).get(...values);
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#db.prepare(sql).run(...values);
  }

  #check(): void {
    if (this.#isClosed) throw new StoreUnavailableError(`Cannot use ${this.where}: it is closed`);
  }
}

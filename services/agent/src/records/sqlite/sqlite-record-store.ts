import { type ChangeOutcome, type KeptRecord, MAX_CHARS_OF_MAKER, MAX_VISIBLE, type RecordStore } from "@rockbot/agent";
import { MAX_LISTED } from "../max-listed.ts";
import { COLUMNS, charsOf, recordOf, valuesOf } from "../record-row.ts";
import type { Row, SharedDatabase } from "./shared-database.ts";

/** Keeps records of one kind in a table of their own. */
export class SqliteRecordStore<T extends KeptRecord> implements RecordStore<T> {
  readonly where: string;
  protected readonly database: SharedDatabase;
  readonly #table: string;

  /** @param table as the migrations name it */
  constructor(database: SharedDatabase, table: "definition" | "skill" | "wisp") {
    this.where = database.where;
    this.database = database;
    this.#table = table;
  }

  create(record: T, maxOfMaker: number): Promise<"created" | "taken" | "there" | "full" | "large"> {
    return this.database.change("save to", () => {
      if (this.#row(record.id) !== undefined) return "there";
      if (this.#isTaken(record)) return "taken";
      const count = this.database.one(`SELECT count(*) AS count FROM ${this.#table} WHERE maker = ?`, record.maker);
      if (Number(count?.["count"]) >= maxOfMaker) return "full";
      if (this.#isLarge(record)) return "large";
      this.database.run(
        `INSERT INTO ${this.#table} (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`,
        ...valuesOf(record),
      );
      return "created";
    });
  }

  async get(id: string): Promise<T | undefined> {
    const row = this.database.read(() => this.#row(id));
    return row === undefined ? undefined : recordOf<T>(row);
  }

  async visibleTo(caller: string): Promise<readonly T[]> {
    const sql = `SELECT * FROM ${this.#table} WHERE maker = ?1 OR approved_hash = hash ORDER BY maker <> ?1, created_at, id LIMIT ?2`;
    return this.database.read(() => this.database.all(sql, caller, MAX_VISIBLE)).map((row) => recordOf<T>(row));
  }

  async all(): Promise<readonly T[]> {
    const sql = `SELECT * FROM ${this.#table} ORDER BY name, maker LIMIT ?`;
    return this.database.read(() => this.database.all(sql, MAX_LISTED)).map((row) => recordOf<T>(row));
  }

  update(record: T): Promise<ChangeOutcome | "taken" | "large"> {
    return this.database.change("save to", () => {
      const outcome = this.#outcome(record.id, ({ version }) => version === record.version - 1);
      if (outcome !== "changed") return outcome;
      if (this.#isTaken(record)) return "taken";
      if (this.#isLarge(record)) return "large";
      // An approval stays as it is: it is an operator's, and of one hash.
      const { name, hash, body } = Object.fromEntries(valuesOf(record).map((value, i) => [COLUMNS[i], value]));
      const values = [name, hash, body].map((value) => value ?? null);
      const sql = `UPDATE ${this.#table} SET name = ?, hash = ?, body = ?, version = ?, updated_at = ? WHERE id = ?`;
      this.database.run(sql, ...values, record.version, record.updatedAt, record.id);
      return "changed";
    });
  }

  remove(id: string, version: number): Promise<ChangeOutcome> {
    return this.database.change("remove from", () => {
      const outcome = this.#outcome(id, (row) => row["version"] === version);
      if (outcome !== "changed") return outcome;
      this.database.run(`DELETE FROM ${this.#table} WHERE id = ?`, id);
      return "changed";
    });
  }

  approve(id: string, hash: string | undefined): Promise<ChangeOutcome> {
    return this.database.change("approve in", () => {
      const outcome = this.#outcome(id, (row) => hash === undefined || row["hash"] === hash);
      if (outcome === "changed")
        this.database.run(`UPDATE ${this.#table} SET approved_hash = ? WHERE id = ?`, hash ?? null, id);
      return outcome;
    });
  }

  #row(id: string): Row | undefined {
    return this.database.one(`SELECT * FROM ${this.#table} WHERE id = ?`, id);
  }

  #isTaken({ id, maker, name }: KeptRecord): boolean {
    return (
      this.database.one(`SELECT 1 FROM ${this.#table} WHERE maker = ? AND name = ? AND id <> ?`, maker, name, id) !==
      undefined
    );
  }

  #isLarge(record: T): boolean {
    const others = this.database.one(
      `SELECT sum(length(body)) AS chars FROM ${this.#table} WHERE maker = ? AND id <> ?`,
      record.maker,
      record.id,
    );
    return Number(others?.["chars"]) + charsOf(record) > MAX_CHARS_OF_MAKER;
  }

  #outcome(id: string, isMeant: (row: Row) => boolean): ChangeOutcome {
    const row = this.#row(id);
    return row === undefined ? "gone" : isMeant(row) ? "changed" : "stale";
  }
}

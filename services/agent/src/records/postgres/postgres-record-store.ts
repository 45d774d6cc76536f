import { type ChangeOutcome, type KeptRecord, MAX_CHARS_OF_MAKER, MAX_VISIBLE, type RecordStore } from "@rockbot/agent";
import type { PostgresClient, PostgresDatabase, PostgresRow } from "@rockbot/records/postgres";
import { MAX_LISTED } from "../max-listed.ts";
import { COLUMNS, charsOf, recordOf, valuesOf } from "../record-row.ts";

/** Keeps records of one kind in a table of their own. */
export class PostgresRecordStore<T extends KeptRecord> implements RecordStore<T> {
  readonly where: string;
  protected readonly database: PostgresDatabase;
  readonly #table: string;
  readonly #lock: number;

  /**
   * @param table as the migrations name it
   * @param lock that the changes of one maker hold
   */
  constructor(database: PostgresDatabase, table: "agent_definition" | "agent_skill" | "agent_wisp", lock: number) {
    this.where = database.where;
    this.database = database;
    this.#table = table;
    this.#lock = lock;
  }

  create(record: T, maxOfMaker: number): Promise<"created" | "taken" | "there" | "full" | "large"> {
    return this.database.inTransaction("save", async (client) => {
      await this.#lockMaker(client, record.maker);
      const known = await client.query(`SELECT 1 FROM ${this.#table} WHERE id = $1`, [record.id]);
      if (known.rows.length > 0) return "there";
      if (await this.#isTaken(client, record)) return "taken";
      const { rows } = await client.query(`SELECT count(*) AS count FROM ${this.#table} WHERE maker = $1`, [
        record.maker,
      ]);
      if (Number(rows[0]?.count) >= maxOfMaker) return "full";
      if (await this.#isLarge(client, record)) return "large";
      const places = COLUMNS.map((_, i) => `$${i + 1}`).join(", ");
      await client.query(`INSERT INTO ${this.#table} (${COLUMNS.join(", ")}) VALUES (${places})`, valuesOf(record));
      return "created";
    });
  }

  async get(id: string): Promise<T | undefined> {
    const [row] = await this.read(`SELECT * FROM ${this.#table} WHERE id = $1`, id);
    return row === undefined ? undefined : recordOf<T>(row);
  }

  async visibleTo(caller: string): Promise<readonly T[]> {
    const sql = `SELECT * FROM ${this.#table} WHERE maker = $1 OR approved_hash = hash ORDER BY maker <> $1, created_at, id COLLATE "C" LIMIT $2`;
    return (await this.read(sql, caller, MAX_VISIBLE)).map((row) => recordOf<T>(row));
  }

  async all(): Promise<readonly T[]> {
    const rows = await this.read(
      `SELECT * FROM ${this.#table} ORDER BY name COLLATE "C", maker COLLATE "C" LIMIT $1`,
      MAX_LISTED,
    );
    return rows.map((row) => recordOf<T>(row));
  }

  update(record: T): Promise<ChangeOutcome | "taken" | "large"> {
    return this.database.inTransaction("save", async (client) => {
      await this.#lockMaker(client, record.maker);
      const { rows } = await client.query(`SELECT version FROM ${this.#table} WHERE id = $1 FOR UPDATE`, [record.id]);
      if (rows.length === 0) return "gone";
      if (Number(rows[0].version) !== record.version - 1) return "stale";
      if (await this.#isTaken(client, record)) return "taken";
      if (await this.#isLarge(client, record)) return "large";
      // An approval stays as it is: it is an operator's, and of one hash.
      const [, , name, hash, , version, , updatedAt, body] = valuesOf(record);
      const sql = `UPDATE ${this.#table} SET name = $2, hash = $3, version = $4, updated_at = $5, body = $6 WHERE id = $1`;
      await client.query(sql, [record.id, name, hash, version, updatedAt, body]);
      return "changed";
    });
  }

  remove(id: string, version: number): Promise<ChangeOutcome> {
    return this.database.inTransaction("remove", async (client) => {
      const { rows } = await client.query(`SELECT version FROM ${this.#table} WHERE id = $1 FOR UPDATE`, [id]);
      if (rows.length === 0) return "gone";
      if (Number(rows[0].version) !== version) return "stale";
      await client.query(`DELETE FROM ${this.#table} WHERE id = $1`, [id]);
      return "changed";
    });
  }

  approve(id: string, hash: string | undefined): Promise<ChangeOutcome> {
    return this.database.inTransaction("approve", async (client) => {
      const { rows } = await client.query(`SELECT hash FROM ${this.#table} WHERE id = $1 FOR UPDATE`, [id]);
      if (rows.length === 0) return "gone";
      if (hash !== undefined && rows[0].hash !== hash) return "stale";
      await client.query(`UPDATE ${this.#table} SET approved_hash = $2 WHERE id = $1`, [id, hash ?? null]);
      return "changed";
    });
  }

  protected read(sql: string, ...values: readonly unknown[]): Promise<readonly PostgresRow[]> {
    return this.database.query("read", sql, values);
  }

  /** One after the other, so that the names and the number of a maker's records are those that were looked at. */
  async #lockMaker(client: PostgresClient, maker: string): Promise<void> {
    await client.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [this.#lock, maker]);
  }

  async #isLarge(client: PostgresClient, record: T): Promise<boolean> {
    const { rows } = await client.query(
      `SELECT sum(length(body)) AS chars FROM ${this.#table} WHERE maker = $1 AND id <> $2`,
      [record.maker, record.id],
    );
    return Number(rows[0]?.chars) + charsOf(record) > MAX_CHARS_OF_MAKER;
  }

  async #isTaken(client: PostgresClient, { id, maker, name }: KeptRecord): Promise<boolean> {
    const { rows } = await client.query(`SELECT 1 FROM ${this.#table} WHERE maker = $1 AND name = $2 AND id <> $3`, [
      maker,
      name,
      id,
    ]);
    return rows.length > 0;
  }
}

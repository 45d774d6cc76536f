import { type ChangeOutcome, type DefinitionStore, type KeptDefinition, MAX_SWITCHED, MAX_VISIBLE } from "@rockbot/agent";
import { connectPostgres, type PostgresClient, type PostgresDatabase, type PostgresRow } from "@rockbot/records/postgres";
import { COLUMNS, definitionOf, valuesOf } from "../definition-row.ts";
import { MAX_LISTED } from "../max-listed.ts";
import type { ConnectDefinitionsOptions } from "../open-definitions.ts";
import { migrations } from "./migrations.ts";

const SCHEMA = { holds: "the agents", versionTable: "agent_version", lock: 7_206_114, migrations };

/**
 * Keeps definitions in a PostgreSQL database, for any number of instances.
 * @param url `postgres://user:password@host/database`
 * @throws {StoreUnavailableError} if the database cannot be reached, or newer code made its tables
 */
export async function connectPostgresDefinitionStore(url: string, options: ConnectDefinitionsOptions = {}): Promise<DefinitionStore> {
  return new PostgresDefinitionStore(await connectPostgres(url, SCHEMA, options));
}

class PostgresDefinitionStore implements DefinitionStore {
  readonly where: string;
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.where = database.where;
  }

  create(definition: KeptDefinition, maxOfMaker: number): Promise<"created" | "taken" | "there" | "full"> {
    return this.#database.inTransaction("save", async (client) => {
      await lockMaker(client, definition.maker);
      const known = await client.query("SELECT 1 FROM agent_definition WHERE id = $1", [definition.id]);
      if (known.rows.length > 0) return "there";
      if (await isTaken(client, definition)) return "taken";
      const { rows } = await client.query("SELECT count(*) AS count FROM agent_definition WHERE maker = $1", [definition.maker]);
      if (Number(rows[0]?.count) >= maxOfMaker) return "full";
      const places = COLUMNS.map((_, i) => `$${i + 1}`).join(", ");
      await client.query(`INSERT INTO agent_definition (${COLUMNS.join(", ")}) VALUES (${places})`, valuesOf(definition));
      return "created";
    });
  }

  async get(id: string): Promise<KeptDefinition | undefined> {
    const [row] = await this.#read("SELECT * FROM agent_definition WHERE id = $1", id);
    return row === undefined ? undefined : definitionOf(row);
  }

  async visibleTo(caller: string): Promise<readonly KeptDefinition[]> {
    const sql = `SELECT * FROM agent_definition WHERE maker = $1 OR approved_hash = hash ORDER BY maker <> $1, created_at, id COLLATE "C" LIMIT $2`;
    return (await this.#read(sql, caller, MAX_VISIBLE)).map(definitionOf);
  }

  async all(): Promise<readonly KeptDefinition[]> {
    const rows = await this.#read(`SELECT * FROM agent_definition ORDER BY name COLLATE "C", maker COLLATE "C" LIMIT $1`, MAX_LISTED);
    return rows.map(definitionOf);
  }

  update(definition: KeptDefinition): Promise<ChangeOutcome | "taken"> {
    return this.#database.inTransaction("save", async (client) => {
      await lockMaker(client, definition.maker);
      const { rows } = await client.query("SELECT version FROM agent_definition WHERE id = $1 FOR UPDATE", [definition.id]);
      if (rows.length === 0) return "gone";
      if (Number(rows[0].version) !== definition.version - 1) return "stale";
      if (await isTaken(client, definition)) return "taken";
      // An approval stays as it is: it is an operator's, and of one hash.
      const [, , name, hash, , version, , updatedAt, body] = valuesOf(definition);
      const sql = "UPDATE agent_definition SET name = $2, hash = $3, version = $4, updated_at = $5, body = $6 WHERE id = $1";
      await client.query(sql, [definition.id, name, hash, version, updatedAt, body]);
      return "changed";
    });
  }

  remove(id: string, version: number): Promise<ChangeOutcome> {
    return this.#database.inTransaction("remove", async (client) => {
      const { rows } = await client.query("SELECT version FROM agent_definition WHERE id = $1 FOR UPDATE", [id]);
      if (rows.length === 0) return "gone";
      if (Number(rows[0].version) !== version) return "stale";
      await client.query("DELETE FROM agent_definition WHERE id = $1", [id]);
      await client.query("DELETE FROM agent_switched WHERE definition = $1", [id]);
      return "changed";
    });
  }

  approve(id: string, hash: string | undefined): Promise<ChangeOutcome> {
    return this.#database.inTransaction("approve", async (client) => {
      const { rows } = await client.query("SELECT hash FROM agent_definition WHERE id = $1 FOR UPDATE", [id]);
      if (rows.length === 0) return "gone";
      if (hash !== undefined && rows[0].hash !== hash) return "stale";
      await client.query("UPDATE agent_definition SET approved_hash = $2 WHERE id = $1", [id, hash ?? null]);
      return "changed";
    });
  }

  switchSession(caller: string, session: string, id: string | undefined): Promise<void> {
    return this.#database.inTransaction("save", async (client) => {
      await client.query("DELETE FROM agent_switched WHERE caller = $1 AND session = $2", [caller, session]);
      if (id === undefined) return;
      await client.query(
        `INSERT INTO agent_switched (caller, session, definition) VALUES ($1, $2, $3)
         ON CONFLICT (caller, session) DO UPDATE SET definition = excluded.definition, seq = DEFAULT`,
        [caller, session, id],
      );
      await client.query("DELETE FROM agent_switched WHERE seq <= (SELECT max(seq) FROM agent_switched) - $1", [MAX_SWITCHED]);
    });
  }

  async switchedTo(caller: string, session: string): Promise<string | undefined> {
    const [row] = await this.#read("SELECT definition FROM agent_switched WHERE caller = $1 AND session = $2", caller, session);
    return row?.["definition"] as string | undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }

  #read(sql: string, ...values: readonly unknown[]): Promise<readonly PostgresRow[]> {
    return this.#database.query("read", sql, values);
  }
}

/** One after the other, so that the names and the number of a maker's definitions are those that were looked at. */
async function lockMaker(client: PostgresClient, maker: string): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [SCHEMA.lock, maker]);
}

async function isTaken(client: PostgresClient, { id, maker, name }: KeptDefinition): Promise<boolean> {
  const { rows } = await client.query("SELECT 1 FROM agent_definition WHERE maker = $1 AND name = $2 AND id <> $3", [maker, name, id]);
  return rows.length > 0;
}

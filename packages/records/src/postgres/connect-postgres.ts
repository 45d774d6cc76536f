import { DatabaseError, Pool, type PoolClient } from "pg";
import { StoreUnavailableError } from "../store-unavailable-error.ts";

/** The tables of one kind of data. */
export interface PostgresSchema {
  /** What is kept, in words: "the knowledge". */
  readonly holds: string;
  /** The table that has the version of the others. */
  readonly versionTable: string;
  /** The number of the lock for changes of the tables, the same in all versions and another one for other data. */
  readonly lock: number;
  /** The steps from each version to the next. A step that was released never changes. */
  readonly migrations: readonly (string | ((client: PostgresClient) => Promise<void>))[];
}

export interface ConnectPostgresOptions {
  /** Connections at most. @default 8 */
  readonly maxConnections?: number | undefined;
  /** How long a connection, or a question to the database, may take. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** Settings of each connection, as `-c name=value`. */
  readonly settings?: string | undefined;
}

/** A connection in a transaction. */
export type PostgresClient = PoolClient;
/** A row by the names of its columns. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/**
 * Connects to a PostgreSQL database, and brings its tables to the version of this code.
 * @param url `postgres://user:password@host/database`
 * @throws {StoreUnavailableError} if the database cannot be reached, or newer code made its tables
 */
export async function connectPostgres(
  url: string,
  schema: PostgresSchema,
  { maxConnections = 8, timeoutMs = 10_000, settings }: ConnectPostgresOptions = {},
): Promise<PostgresDatabase> {
  const pool = new Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
    application_name: "rockbot",
    ...(settings === undefined ? {} : { options: settings }),
  });
  pool.on("error", () => {}); // an idle connection broke; the next question makes another
  // The pool hears of its idle ones only. Of one in a transaction the next question says it.
  pool.on("connect", (client) => client.on("error", () => {}));
  const database = new PostgresDatabase(pool, placeOf(url));
  try {
    await migrate(database, schema);
    return database;
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

/** A database with its tables. Its errors name the place, without user and password. */
export class PostgresDatabase implements AsyncDisposable {
  readonly where: string;
  readonly #pool: Pool;
  #closing: Promise<void> | undefined;

  constructor(pool: Pool, where: string) {
    this.#pool = pool;
    this.where = where;
  }

  /** @param what is done, in words for an error @throws {StoreUnavailableError} */
  async query(what: string, sql: string, values: readonly unknown[]): Promise<readonly PostgresRow[]> {
    try {
      return (await this.#pool.query(sql, values as unknown[])).rows;
    } catch (error) {
      throw this.#unavailable(what, error);
    }
  }

  /**
   * Runs `change` in a transaction: it is there in full or not at all.
   * @throws {StoreUnavailableError} and what `change` throws of its own
   */
  async inTransaction<T>(what: string, change: (client: PostgresClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.#pool.connect();
      await client.query("BEGIN");
      const result = await change(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      await client?.query("ROLLBACK").then(
        () => client?.release(),
        () => client?.release(true),
      );
      throw this.#unavailable(what, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#pool.end();
    await this.#closing;
  }

  /**
   * Errors of the database and of its connection are of a class of its own, have a code, or are plain ones that say so.
   * All others stay as they are.
   */
  #unavailable(what: string, error: unknown): unknown {
    const { code, message, name } = error as NodeJS.ErrnoException;
    const isPlain = name === "Error" && /timeout|connection (terminated|error)|pool/i.test(message);
    if (error instanceof StoreUnavailableError || !(error instanceof DatabaseError || code !== undefined || isPlain))
      return error;
    return new StoreUnavailableError(
      `Cannot ${what} in ${this.where}: ${error instanceof DatabaseError ? `${message} (${code})` : (code ?? message)}`,
      {
        cause: error,
      },
    );
  }
}

async function migrate(
  database: PostgresDatabase,
  { holds, versionTable, lock, migrations }: PostgresSchema,
): Promise<void> {
  await database.inTransaction("make its tables", async (client) => {
    await client.query("SELECT pg_advisory_xact_lock($1)", [lock]);
    await client.query(`CREATE TABLE IF NOT EXISTS ${versionTable} (version integer NOT NULL)`);
    const { rows } = await client.query(`SELECT version FROM ${versionTable}`);
    const version = Number(rows[0]?.version ?? 0);
    if (version > migrations.length) {
      throw new StoreUnavailableError(
        `Cannot open ${holds} of ${database.where}: a newer RockBot made it (version ${version}, this one knows ${migrations.length}). Update this one`,
      );
    }
    if (version === migrations.length) return;
    for (const step of migrations.slice(version)) await (typeof step === "string" ? client.query(step) : step(client));
    await client.query(`DELETE FROM ${versionTable}`);
    await client.query(`INSERT INTO ${versionTable} VALUES ($1)`, [migrations.length]);
  });
}

/** The database without its user and password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `the database ${pathname.slice(1)} of ${host}`;
}

import { postgresMissing, startOwnPostgres } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../store-unavailable-error.ts";
import { connectPostgres, type PostgresClient, type PostgresDatabase } from "./connect-postgres.ts";

const missing = await postgresMissing();
const LOST = "INSERT INTO notes VALUES ('lost')";
const schema = {
  holds: "the notes",
  versionTable: "notes_version",
  lock: 7_001,
  migrations: ["CREATE TABLE notes (text text NOT NULL)"],
};

/** Cuts the connection as an operator, a restart or a failover does. */
async function cut(database: PostgresDatabase, client: PostgresClient): Promise<void> {
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  client.once("end", resolve);
  await database.query("cut a connection", "SELECT pg_terminate_backend($1)", [rows[0].pid]);
  await ended;
}

describe.skipIf(missing !== undefined)(
  `with a PostgreSQL${missing === undefined ? "" : `: skipped, as ${missing}`}`,
  () => {
    let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
    beforeAll(async () => {
      postgres = await startOwnPostgres();
    }, 600_000);
    afterAll(() => postgres?.[Symbol.asyncDispose]());

    // A connection whose error nobody hears ends the process, and with it this test.
    test.each<readonly [string, (client: PostgresClient, database: PostgresDatabase) => Promise<unknown>]>([
      ["before a question", (client, database) => cut(database, client).then(() => client.query(LOST))],
      ["before the end", (client, database) => client.query(LOST).then(() => cut(database, client))],
      [
        "while it waits for an answer",
        (client, database) => Promise.all([client.query("SELECT pg_sleep(30)"), killSleeper(database)]),
      ],
    ])(
      "a connection that is cut in mid-transaction, %s, fails that transaction in words, and the next one goes on",
      async (_, work) => {
        await using database = await connectPostgres(await postgres.ownDatabase(), schema);

        await expect(
          database.inTransaction("write a note", async (client) => void (await work(client, database))),
        ).rejects.toThrow(StoreUnavailableError);
        await database.inTransaction(
          "write a note",
          async (client) => void (await client.query("INSERT INTO notes VALUES ('kept')")),
        );
        expect(await database.query("read the notes", "SELECT text FROM notes", [])).toEqual([{ text: "kept" }]);
      },
    );
  },
);

async function killSleeper(database: PostgresDatabase): Promise<void> {
  const kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
  await expect
    .poll(async () => (await database.query("cut a connection", kill, [])).length, { timeout: 10_000 })
    .toBe(1);
}

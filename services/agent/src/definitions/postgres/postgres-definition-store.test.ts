import { StoreUnavailableError } from "@rockbot/records";
import { postgresMissing, startOwnPostgres } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDefinitionStore, testKept } from "../conformance.ts";
import { connectPostgresDefinitionStore } from "./postgres-definition-store.ts";

const missing = await postgresMissing();

describe.skipIf(missing !== undefined)(`with a PostgreSQL${missing === undefined ? "" : `: skipped, as ${missing}`}`, () => {
  let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
  beforeAll(async () => {
    postgres = await startOwnPostgres();
  }, 600_000);
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  testDefinitionStore("PostgresDefinitionStore", async () => {
    const url = await postgres.ownDatabase();
    const store = await connectPostgresDefinitionStore(url);
    return { store, again: () => connectPostgresDefinitionStore(url), [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  });

  test("a database that is away is said to be, and is used again once it is back", async () => {
    await using store = await connectPostgresDefinitionStore(await postgres.ownDatabase());
    await postgres.kill();
    await expect(store.create(testKept("a"), 1)).rejects.toThrow(StoreUnavailableError);
    await postgres.restart();
    await expect.poll(() => store.create(testKept("a"), 1).catch(() => undefined)).toBe("created");
  });
});

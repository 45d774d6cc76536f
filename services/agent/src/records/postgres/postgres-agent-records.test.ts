import { StoreUnavailableError } from "@rockbot/records";
import { postgresMissing, startOwnPostgres } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testAgentRecords, testKept } from "../conformance.ts";
import { connectPostgresAgentRecords } from "./postgres-agent-records.ts";

const missing = await postgresMissing();

describe.skipIf(missing !== undefined)(
  `with a PostgreSQL${missing === undefined ? "" : `: skipped, as ${missing}`}`,
  () => {
    let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
    beforeAll(async () => {
      postgres = await startOwnPostgres();
    }, 600_000);
    afterAll(() => postgres?.[Symbol.asyncDispose]());

    testAgentRecords("PostgreSQL", async () => {
      const url = await postgres.ownDatabase();
      const records = await connectPostgresAgentRecords(url);
      return {
        records,
        again: () => connectPostgresAgentRecords(url),
        [Symbol.asyncDispose]: () => records[Symbol.asyncDispose](),
      };
    });

    test("a database that is away is said to be, and is used again once it is back", async () => {
      await using records = await connectPostgresAgentRecords(await postgres.ownDatabase());
      const store = records.definitions;
      await postgres.kill();
      await expect(store.create(testKept("a"), 1)).rejects.toThrow(StoreUnavailableError);
      await postgres.restart();
      await expect.poll(() => store.create(testKept("a"), 1).catch(() => undefined)).toBe("created");
    });
  },
);

import { StoreUnavailableError } from "@rockbot/records";
import { postgresMissing, startOwnPostgres } from "@rockbot/testing";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { queryTerms } from "../../text/terms.ts";
import { testItem, testKnowledgeStore } from "../conformance.ts";
import { connectPostgresStore } from "./postgres-store.ts";

const missing = await postgresMissing();

describe.skipIf(missing !== undefined)(
  `with a PostgreSQL${missing === undefined ? "" : `: skipped, as ${missing}`}`,
  () => {
    let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
    beforeAll(async () => {
      postgres = await startOwnPostgres();
    }, 600_000);
    afterAll(() => postgres?.[Symbol.asyncDispose]());

    testKnowledgeStore("PostgresStore", async () => {
      const url = await postgres.ownDatabase();
      const store = await connectPostgresStore(url);
      return {
        store,
        again: () => connectPostgresStore(url),
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      };
    });

    test("ten that open an empty database at once make its tables once", async () => {
      const url = await postgres.ownDatabase();
      const stores = await Promise.all(
        Array.from({ length: 10 }, () => connectPostgresStore(url, { maxConnections: 1 })),
      );
      await Promise.all(stores.map((store, i) => store.save([testItem(`i${i}`, { categories: ["News"] })])));
      expect(await stores[0]?.countOf("alice")).toMatchObject({ items: 10 });
      await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
    });

    test("items of tables whose words were made otherwise are found by the words of now", async () => {
      const url = await postgres.ownDatabase();
      {
        await using store = await connectPostgresStore(url);
        await store.save(Array.from({ length: 250 }, (_, i) => testItem(`i${i}`, { title: `Straße ${i}` })));
      }
      const client = new Pool({ connectionString: url, max: 1 });
      await client.query("UPDATE knowledge_item SET words = ''; UPDATE knowledge_version SET version = 1");
      await client.end();
      await using store = await connectPostgresStore(url);
      expect(await store.match({ terms: queryTerms("strasse 249"), facets: [], limit: 1 })).toEqual(["i249"]);
      expect(await store.match({ terms: queryTerms("strasse"), facets: [], limit: 300 })).toHaveLength(250);
    });

    test("items are found in whichever window of numbers they are, those with all words first, and then the newest", async () => {
      const url = await postgres.ownDatabase();
      await using store = await connectPostgresStore(url);
      const client = new Pool({ connectionString: url, max: 1 });
      await using _client = { [Symbol.asyncDispose]: () => client.end() };
      for (const [id, title, next] of [
        ["oldest", "red apple", 100_000],
        ["older", "apple", 200_000],
        ["old", "apple", 230_000],
        ["new", "red apple", 233_900],
        ["newest", "apple", 233_901],
      ] as const) {
        await store.save([testItem(id, { title, body: "" })]);
        await client.query(`ALTER TABLE knowledge_item ALTER seq RESTART WITH ${next}`);
      }
      expect(await store.match({ terms: queryTerms("apple"), facets: [], limit: 10 })).toEqual([
        "newest",
        "new",
        "old",
        "older",
        "oldest",
      ]);
      expect(await store.match({ terms: queryTerms("red apple"), facets: [], limit: 3 })).toEqual([
        "new",
        "oldest",
        "newest",
      ]);
    });

    test("a database that is away or refuses is said to be, without its password", async () => {
      const url = new URL(await postgres.ownDatabase());
      await using store = await connectPostgresStore(url.href);
      await store.save([testItem("a")]);
      await postgres.kill();
      await expect(store.get(["a"])).rejects.toThrow(StoreUnavailableError);
      const gone = await connectPostgresStore(url.href).catch((error: Error) => error.message);
      expect(gone).toMatch(/^Cannot make its tables in the database \w+ of 127\.0\.0\.1:\d+: ECONNREFUSED$/);
      await postgres.restart();
      await expect.poll(() => store.get(["a"]).catch(() => [])).toHaveLength(1);
      url.password = "wrong-password";
      const refused = await connectPostgresStore(url.href).catch((error: Error) => error.message);
      expect(refused).toMatch(/password authentication failed/);
      expect(refused).not.toContain("wrong-password");
    });
  },
);

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { facetsOf } from "../../item/facets.ts";
import { queryTerms } from "../../text/terms.ts";
import { testItem, testKnowledgeStore } from "../conformance.ts";
import { openSqliteStore } from "./sqlite-store.ts";

testKnowledgeStore("SqliteStore", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder());
  const store = stack.use(await openSqliteStore(folder.path));
  const open = stack.move();
  return { store, again: () => openSqliteStore(folder.path), [Symbol.asyncDispose]: () => open.disposeAsync() };
});

test("the files of the database are for its user alone", async () => {
  using folder = temporaryFolder();
  await using store = await openSqliteStore(folder.path);
  await store.save([testItem("a")]);
  for (const file of readdirSync(folder.path))
    expect([file, statSync(join(folder.path, file)).mode & 0o077]).toEqual([file, 0]);
});

test("a database that newer code made is left alone, and one that is none is said to be none", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "knowledge.db");
  const newer = new DatabaseSync(file);
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  await expect(openSqliteStore(folder.path)).rejects.toThrow(/a newer RockBot made it \(version 99/);
  await expect(openSqliteStore(join(folder.path, "missing"))).rejects.toThrow(
    /Cannot open the knowledge of .*: ENOENT/,
  );
});

test("a change waits for another process for so long, and then says why", async () => {
  using folder = temporaryFolder();
  await using store = await openSqliteStore(folder.path, { busyTimeoutMs: 50 });
  const other = new DatabaseSync(join(folder.path, "knowledge.db"));
  other.exec("BEGIN IMMEDIATE");
  await expect(store.save([testItem("a")])).rejects.toThrow(/other processes write to it all the time/);
  expect(await store.get(["a"])).toEqual([]);
  other.exec("ROLLBACK");
  other.close();
  expect(await store.save([testItem("a")])).toMatchObject({ created: 1 });
});

test("a word that is written as the index writes a facet finds texts alone", async () => {
  using folder = temporaryFolder();
  await using store = await openSqliteStore(folder.path);
  const word = `f${Buffer.from("kind:post").toString("hex")}`;
  await store.save([
    testItem("a", { kind: "post", title: "One" }),
    testItem("b", { kind: "node", title: `About ${word}` }),
  ]);
  expect(await store.match({ terms: [word], facets: [], limit: 10 })).toEqual(["b"]);
});

test("items of a database whose words were made otherwise are found by the words of now, with the same filters", async () => {
  using folder = temporaryFolder();
  const item = testItem("a", { title: "Straße", tags: ["x"], categories: ["News"] });
  {
    await using store = await openSqliteStore(folder.path);
    await store.save([item]);
  }
  const older = new DatabaseSync(join(folder.path, "knowledge.db"));
  older.exec("INSERT INTO item_words (item_words) VALUES ('delete-all'); PRAGMA user_version = 1");
  older.close();
  await using store = await openSqliteStore(folder.path);
  expect(
    await store.match({ terms: queryTerms("strasse"), facets: facetsOf(item).map((facet) => [facet]), limit: 10 }),
  ).toEqual(["a"]);
});

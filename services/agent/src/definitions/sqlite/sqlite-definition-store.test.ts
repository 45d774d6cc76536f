import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { testDefinitionStore, testKept } from "../conformance.ts";
import { openSqliteDefinitionStore } from "./sqlite-definition-store.ts";

testDefinitionStore("SqliteDefinitionStore", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder());
  const store = stack.use(await openSqliteDefinitionStore(folder.path));
  const open = stack.move();
  return { store, again: () => openSqliteDefinitionStore(folder.path), [Symbol.asyncDispose]: () => open.disposeAsync() };
});

test("the files of the database are for its user alone", async () => {
  using folder = temporaryFolder();
  await using store = await openSqliteDefinitionStore(folder.path);
  await store.create(testKept("a"), 1);
  for (const file of readdirSync(folder.path)) expect([file, statSync(join(folder.path, file)).mode & 0o077]).toEqual([file, 0]);
});

test("a change waits for another process for so long, and then says why; a closed store says that it is", async () => {
  using folder = temporaryFolder();
  const store = await openSqliteDefinitionStore(folder.path, { busyTimeoutMs: 50 });
  const other = new DatabaseSync(join(folder.path, "agents.db"));
  other.exec("BEGIN IMMEDIATE");
  await expect(store.create(testKept("a"), 1)).rejects.toThrow(/^Cannot save to the file .*agents\.db: other processes write to it all the time$/);
  other.exec("ROLLBACK");
  other.close();
  expect(await store.create(testKept("a"), 1)).toBe("created");
  await store[Symbol.asyncDispose]();
  await expect(store.visibleTo("alice")).rejects.toThrow(/it is closed/);
});

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { testAgentRecords, testKept } from "../conformance.ts";
import { openSqliteAgentRecords } from "./sqlite-agent-records.ts";

testAgentRecords("SQLite", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder());
  const records = stack.use(await openSqliteAgentRecords(folder.path));
  const open = stack.move();
  return {
    records,
    again: () => openSqliteAgentRecords(folder.path),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
});

test("the files of the database are for its user alone", async () => {
  using folder = temporaryFolder();
  await using records = await openSqliteAgentRecords(folder.path);
  await records.definitions.create(testKept("a"), 1);
  for (const file of readdirSync(folder.path))
    expect([file, statSync(join(folder.path, file)).mode & 0o077]).toEqual([file, 0]);
});

test("a change waits for another process for so long, and then says why; a closed store says that it is", async () => {
  using folder = temporaryFolder();
  const records = await openSqliteAgentRecords(folder.path, { busyTimeoutMs: 50 });
  const store = records.definitions;
  const other = new DatabaseSync(join(folder.path, "agents.db"));
  other.exec("BEGIN IMMEDIATE");
  await expect(store.create(testKept("a"), 1)).rejects.toThrow(
    /^Cannot save to the file .*agents\.db: other processes write to it all the time$/,
  );
  other.exec("ROLLBACK");
  other.close();
  expect(await store.create(testKept("a"), 1)).toBe("created");
  await records[Symbol.asyncDispose]();
  await expect(store.visibleTo("alice")).rejects.toThrow(/it is closed/);
});

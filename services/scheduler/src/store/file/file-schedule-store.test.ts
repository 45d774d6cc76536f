import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StoreUnavailableError } from "@rockbot/records";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { testScheduleStore, testTask } from "../conformance.ts";
import { openFileScheduleStore } from "./file-schedule-store.ts";

testScheduleStore("the store in a file", async (clock) => {
  const folder = temporaryFolder();
  const store = await openFileScheduleStore(join(folder.path, "deep", "schedules.json"), { clock });
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
});

const add = (store: Awaited<ReturnType<typeof openFileScheduleStore>>, task = testTask()) =>
  store.write({
    key: task.key,
    caller: task.caller,
    version: undefined,
    task,
    spend: { day: "2026-11-25", fires: 1, tokens: 7 },
  });

test("what was written is there when the file is opened again, and nothing else lies beside it", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "schedules.json");
  const task = testTask();
  {
    await using store = await openFileScheduleStore(file);
    await Promise.all([add(store, task), add(store, testTask({ name: "other" }))]);
  }
  await using again = await openFileScheduleStore(file);
  expect((await again.read(task.key))?.task).toEqual(task);
  expect(await again.usage(task.caller, "2026-11-25")).toEqual({ fires: 2, tokens: 14 });
  expect(await readdir(folder.path)).toEqual(["schedules.json"]);
});

test.each([
  "",
  "{",
  "[]",
  '{"format":2,"tasks":[],"usages":[]}',
  '{"format":1,"tasks":[{"key":1}],"usages":[]}',
  '{"format":1,"tasks":[],"usages":[["a",{}]]}',
])("puts a file with %s aside, whole, and begins anew", async (text) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "schedules.json");
  await writeFile(file, text);
  await using store = await openFileScheduleStore(file, { clock: () => 17 });
  expect(store.setAside).toBe(`${file}.unreadable-17`);
  expect(await readFile(store.setAside ?? "", "utf8")).toBe(text);
  expect(await add(store)).toBe("written");
});

test("a change that the disk does not take is not made", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "schedules.json");
  await using store = await openFileScheduleStore(file);
  await mkdir(file); // so that no file can take its name
  await expect(add(store)).rejects.toThrow(StoreUnavailableError);
  expect(await store.read(testTask().key)).toBeUndefined();
  expect(await store.usage("asker", "2026-11-25")).toEqual({ fires: 0, tokens: 0 });
});

test("refuses changes, in words, once another process has changed the file", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "schedules.json");
  await using one = await openFileScheduleStore(file);
  await using two = await openFileScheduleStore(file);
  await add(one);
  await expect(add(two)).rejects.toThrow(`another process has changed ${file}`);
  expect(await add(one, testTask({ name: "more" }))).toBe("written");
});

import { expect, test } from "vitest";
import { testBytesOfTasks, testTask, testTaskStore } from "./conformance.ts";
import { createMemoryTaskStore } from "./memory-task-store.ts";
import { KEPT_MS } from "./task-store.ts";

testTaskStore("memory", async () => createMemoryTaskStore());

test("a task is forgotten a day after its last change", async () => {
  let now = 1_000_000;
  await using store = createMemoryTaskStore({ clock: () => now });
  await store.write(testTask({ id: "one", updatedAt: now }), undefined);
  now += KEPT_MS - 1;
  expect(await store.read("alice", "one")).toBeDefined();
  now += 1;
  expect(await store.read("alice", "one")).toBeUndefined();
});

testBytesOfTasks("memory", async () => createMemoryTaskStore({ maxCharacters: 2 * 1024 * 1024 }));

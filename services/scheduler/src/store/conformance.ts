import { newId } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { describe, expect, test } from "vitest";
import { type ScheduledTask, taskKey } from "../task/scheduled-task.ts";
import { MAX_TASKS, type ScheduleStore, type TaskChange } from "./schedule-store.ts";

const AT = Date.UTC(2026, 10, 25, 9);
const DAY = "2026-11-25";
const look = (replica = "one", limit = 10) => ({ replica, aliveMs: 20_000, limit });

/**
 * The promises of every store of scheduled tasks, as tests. `create` makes an empty one each time, which goes by the
 * clock.
 */
export function testScheduleStore(name: string, create: (clock: () => number) => Promise<ScheduleStore>): void {
  const put = (store: ScheduleStore, task: ScheduledTask, more: Partial<TaskChange> = {}) =>
    store.write({ key: task.key, caller: task.caller, version: undefined, task, ...more });
  const runningOf = (replica: string) => ({
    fireAt: AT,
    fireId: "f",
    replica,
    takenAt: AT,
    takeovers: 0,
    message: "do",
    hasReadUntrusted: false,
  });

  describe(name, () => {
    test("gives back what was written, and changes only the version that was read", async () => {
      await using store = await create(() => AT);
      const task = testTask({
        name: "é\u0000|\n",
        description: "constructor __proto__",
        lastSkip: { first: 1, last: 2, reason: "why" },
      });
      expect(await put(store, task)).toBe("written");
      const stored = await store.read(task.key);
      expect(stored?.task).toEqual(task);
      expect(await put(store, task)).toBe("stale");
      expect(await put(store, { ...task, cron: "1 * * * *" }, { version: stored?.version })).toBe("written");
      expect(await put(store, task, { version: stored?.version })).toBe("stale");
      expect(await put(store, task, { version: stored?.version, task: undefined })).toBe("stale");
      const now = await store.read(task.key);
      expect(now?.task.cron).toBe("1 * * * *");
      expect(await put(store, task, { version: now?.version, task: undefined })).toBe("written");
      expect(await store.read(task.key)).toBeUndefined();
      expect(await store.tasksOf(task.caller)).toEqual([]);
    });

    test("of many who change a task at once, one does", async () => {
      await using store = await create(() => AT);
      const task = testTask();
      await put(store, task);
      const version = (await store.read(task.key))?.version;
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => put(store, { ...task, description: `${i}` }, { version })),
      );
      expect(outcomes.filter((outcome) => outcome === "written")).toHaveLength(1);
    });

    test("lists the tasks of a caller, and no other's, and refuses a new one beyond the caller's bound", async () => {
      await using store = await create(() => AT);
      for (const key of ["a", "b"]) expect(await put(store, testTask({ name: key }), { maxTasks: 2 })).toBe("written");
      expect(await put(store, testTask({ name: "c" }), { maxTasks: 2 })).toBe("no_room");
      expect(await put(store, testTask({ name: "c", caller: "other" }), { maxTasks: 2 })).toBe("written");
      const known = await store.read(testTask({ name: "a" }).key);
      expect(await put(store, testTask({ name: "a" }), { version: known?.version, maxTasks: 2 })).toBe("written"); // no new one
      expect((await store.tasksOf("asker")).map((task) => task.name).sort()).toEqual(["a", "b"]);
      expect(await store.tasksOf("nobody")).toEqual([]);
    });

    test("refuses a task beyond the bytes that its caller's tasks may have, and takes a shorter one in its place", async () => {
      await using store = await create(() => AT);
      const description = "x".repeat(1024 * 1024);
      const refusal = {
        name: "StoreFullError",
        message: expect.stringMatching(/^the scheduled tasks of one caller, .* may have 16777216 bytes/),
      };
      for (let i = 0; i < 15; i++)
        expect(await put(store, testTask({ name: `${i}`, description }), { maxTasks: 99 })).toBe("written");
      await expect(put(store, testTask({ name: "more", description }), { maxTasks: 99 })).rejects.toMatchObject(
        refusal,
      );
      const known = await store.read(testTask({ name: "0" }).key);
      const replaced = { version: known?.version, maxTasks: 99 };
      await expect(
        put(store, testTask({ name: "0", description: description.repeat(2) }), replaced),
      ).rejects.toMatchObject(refusal);
      expect(await put(store, testTask({ name: "0", description: "short" }), replaced)).toBe("written");
      expect(await put(store, testTask({ name: "more", description }), { maxTasks: 99 })).toBe("written");
      expect(await put(store, testTask({ name: "x", caller: "other", description }), { maxTasks: 99 })).toBe("written");
    });

    test("has what is due in the order of its time, at most so many, and says when the next one is", async () => {
      await using store = await create(() => AT);
      for (const minutes of [3, -1, -3, 0, -2, 9])
        await put(store, testTask({ name: `at ${minutes}`, nextAt: AT + minutes * 60_000 }));
      await put(store, testTask({ name: "never", nextAt: undefined }));
      const work = await store.look(look("one", 3));
      expect(work.due.map(({ task }) => task.name)).toEqual(["at -3", "at -2", "at -1"]);
      expect(work.now).toBe(AT);
      expect(work.nextAt).toBe(AT + 3 * 60_000);
      expect(work.orphans).toEqual([]);
    });

    test("a task without a next time wakes when it is to be forgotten, and not while it runs", async () => {
      await using store = await create(() => AT);
      await put(store, testTask({ name: "kept", nextAt: undefined, keptUntil: AT + 5 }));
      await put(store, testTask({ name: "runs", nextAt: undefined, keptUntil: AT - 5, running: runningOf("one") }));
      const work = await store.look(look());
      expect(work.due).toEqual([]);
      expect(work.nextAt).toBe(AT + 5);
    });

    test("hands out the fires of a replica that is gone, and those that it did not know of itself", async () => {
      let now = AT;
      await using store = await create(() => now);
      await put(store, testTask({ nextAt: undefined, running: runningOf("one") }));
      const orphansFor = async (replica: string) => (await store.look(look(replica))).orphans.length;
      expect(await orphansFor("one")).toBe(1); // it knows whether it runs it
      expect(await orphansFor("two")).toBe(0);
      now += 19_000;
      expect(await orphansFor("two")).toBe(0);
      now += 2_000; // one has not looked for longer than it may
      expect(await orphansFor("two")).toBe(1);
      expect(await orphansFor("one")).toBe(1); // it lives, after all
      expect(await orphansFor("two")).toBe(0);
      await store.leave("one");
      expect(await orphansFor("two")).toBe(1);
    });

    test("a sign of life from before the clock went back is not believed for ever", async () => {
      let now = AT;
      await using store = await create(() => now);
      await put(store, testTask({ nextAt: undefined, running: runningOf("one") }));
      await store.look(look("one"));
      now -= 3_600_000;
      expect((await store.look(look("two"))).orphans).toHaveLength(1);
    });

    test("counts fires and tokens of a caller's day, and makes no change beyond the bounds", async () => {
      await using store = await create(() => AT);
      const most = { fires: 2, tokens: 100 };
      const spend = async (name: string, used: { fires?: number; tokens?: number }, day = DAY) =>
        put(store, testTask({ name }), { spend: { day, fires: 0, tokens: 0, ...used, most } });
      expect(await spend("a", { fires: 1 })).toBe("written");
      expect(await spend("b", { fires: 1 })).toBe("written");
      expect(await spend("c", { fires: 1 })).toBe("spent");
      expect(await store.read(testTask({ name: "c" }).key)).toBeUndefined();
      expect(await spend("c", { fires: 1 }, "2026-11-26")).toBe("written");
      await store.charge("asker", "2026-11-26", 100);
      expect(await spend("d", { fires: 1 }, "2026-11-26")).toBe("spent");
      expect(await store.usage("asker", DAY)).toEqual({ fires: 2, tokens: 0 });
      expect(await store.usage("asker", "2026-11-26")).toEqual({ fires: 1, tokens: 100 });
      expect(await store.usage("other", DAY)).toEqual({ fires: 0, tokens: 0 });
    });

    test("a closed one says so", async () => {
      const store = await create(() => AT);
      await store[Symbol.asyncDispose]();
      await expect(store.read("a")).rejects.toThrow(StoreUnavailableError);
      await expect(put(store, testTask())).rejects.toThrow(StoreUnavailableError);
    });
  });
}

/** Fills a store with as many tasks as it keeps, one of them over: that one gives way to the new one of any caller. */
export async function expectOverGivesWay(store: ScheduleStore): Promise<void> {
  const put = (task: ScheduledTask) => store.write({ key: task.key, caller: task.caller, version: undefined, task });
  const live = Array.from({ length: MAX_TASKS - 2 }, (_, i) => testTask({ name: `${i}` }));
  while (live.length > 0) await Promise.all(live.splice(0, 100).map(put)); // a store has a moment for each answer
  for (const keptUntil of [2, 1])
    await put(testTask({ name: `${keptUntil}`, caller: "over", nextAt: undefined, keptUntil: AT + keptUntil }));
  const outcomes = [];
  for (const name of ["a", "b", "c"])
    outcomes.push(
      await put(testTask({ name, caller: "new" })),
      (await store.tasksOf("over")).map((task) => task.name).join(),
    );
  expect(outcomes).toEqual(["written", "2", "written", "", "no_room", ""]);
  expect(await put(testTask({ name: "d", caller: "over" }))).toBe("no_room");
}

/** A task of its own, due at once unless something else is said. */
export function testTask(more: Partial<ScheduledTask> = {}): ScheduledTask {
  const { caller = "asker", sessionId = "s1", name = "news", isOnce = false } = more;
  const named = { caller, sessionId, name, isOnce, cron: "0 * * * *", zone: "UTC", description: "Say what is new." };
  return {
    key: taskKey({ caller, sessionId, name }),
    id: newId(),
    hasReadUntrusted: false,
    grant: "[]",
    createdAt: 0,
    nextAt: 0,
    ...named,
    ...more,
  };
}

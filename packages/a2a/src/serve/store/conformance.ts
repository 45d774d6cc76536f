import { expect, test } from "vitest";
import { MAX_TASKS, type StoredTask, type TaskStore } from "./task-store.ts";

/** A task for tests. */
export const testTask = (more: Partial<StoredTask> = {}): StoredTask => ({
  id: "a".repeat(32),
  turnId: more.id ?? "a".repeat(32),
  contextId: "context",
  by: "alice",
  messageId: "m",
  standing: "working",
  isUntrusted: false,
  createdAt: Date.now(),
  updatedAt: Date.now(),
  asked: "What?",
  answer: "",
  earlier: [],
  ...more,
});

/** The tests of what each store of tasks promises. */
// Long because: it is a list of tests
export function testTaskStore(name: string, create: () => Promise<TaskStore>): void {
  test(`${name}: a task is read as it was written last, by its caller alone`, async () => {
    await using store = await create();
    const task = testTask();
    await store.write(task, undefined);
    await store.write({ ...task, standing: "completed", answer: "That ü.", isUntrusted: true }, task);

    expect(await store.read("alice", task.id)).toEqual({
      ...task,
      standing: "completed",
      answer: "That ü.",
      isUntrusted: true,
    });
    expect(await store.read("bob", task.id)).toBeUndefined();
    expect(await store.read("", task.id)).toBeUndefined();
    expect(await store.list("bob")).toEqual([]);
  });

  test(`${name}: a caller's tasks are listed without texts, the newest change first, and only so many are kept`, async () => {
    await using store = await create();
    const now = Date.now();
    for (let i = 0; i < MAX_TASKS + 2; i++)
      await store.write(testTask({ id: `task-${i}`, updatedAt: now + i, standing: "completed" }), undefined);
    await store.write(testTask({ id: "other", by: "bob" }), undefined);

    const listed = await store.list("alice");
    expect(listed).toHaveLength(MAX_TASKS);
    expect(listed.slice(0, 2).map(({ id }) => id)).toEqual([`task-${MAX_TASKS + 1}`, `task-${MAX_TASKS}`]);
    expect(listed[0]).not.toHaveProperty("asked");
    expect(await store.read("alice", "task-0")).toBeUndefined();
    expect(await store.read("bob", "other")).toBeDefined();
  });

  test(`${name}: tasks that have not ended stay, and a caller that has as many as it may begins no further one`, async () => {
    await using store = await create();
    await store.write(testTask({ id: "ended", standing: "completed" }), undefined);
    for (let i = 0; i < MAX_TASKS; i++)
      await store.write(testTask({ id: `task-${i}`, standing: i % 2 === 0 ? "working" : "input-required" }), undefined);

    await expect(store.write(testTask({ id: "one more" }), undefined)).rejects.toThrow(
      `take all the room that one caller may have here: ${MAX_TASKS} tasks, and `,
    );
    expect((await store.list("alice")).map(({ id }) => id).includes("ended")).toBe(false);
    expect(await store.list("alice")).toHaveLength(MAX_TASKS);
    await store.write(testTask({ id: "other", by: "bob" }), undefined);
    await store.write(testTask({ id: "task-0", standing: "completed" }), testTask({ id: "task-0" }));
    await store.write(testTask({ id: "one more" }), undefined);
    expect(await store.read("alice", "task-0")).toBeUndefined();
    expect(await store.read("alice", "task-2")).toBeDefined();
  });

  test(`${name}: tasks that have not ended are found`, async () => {
    await using store = await create();
    await store.write(testTask({ id: "one" }), undefined);
    await store.write(testTask({ id: "two", by: "bob" }), undefined);
    await store.write(testTask({ id: "three" }), undefined);
    await store.write(testTask({ id: "three", standing: "failed" }), testTask({ id: "three" }));

    expect((await store.open()).map(({ id, asked }) => [id, asked]).sort()).toEqual([
      ["one", "What?"],
      ["two", "What?"],
    ]);
  });

  test(`${name}: of two that change a task at once one does, and a task that the store has lost is written again`, async () => {
    await using store = await create();
    const task = testTask();
    const asks: StoredTask = { ...task, standing: "input-required", answer: "Which?" };
    const goesOn = (turnId: string): StoredTask => ({
      ...task,
      turnId,
      asked: turnId,
      earlier: [{ turnId: task.turnId, messageId: "m", asked: "What?", question: "Which?" }],
    });
    expect(await store.write(task, undefined)).toBe(true);
    expect(await store.write(task, undefined)).toBe(false);
    expect(await store.write(asks, task)).toBe(true);

    const written = await Promise.all([
      store.write(goesOn("one"), asks),
      store.write(goesOn("two"), asks),
      store.write({ ...asks, standing: "canceled" }, asks),
    ]);
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await store.read("alice", task.id)).toEqual(
      [goesOn("one"), goesOn("two"), { ...asks, standing: "canceled" }][written.indexOf(true)],
    );
    expect(await store.write({ ...task, standing: "failed" }, task)).toBe(false);
    expect(await store.write({ ...task, id: "lost", standing: "failed" }, { ...task, id: "lost" })).toBe(true);
  });

  test(`${name}: tasks that have waited for long are found, and are not at work`, async () => {
    await using store = await create();
    const now = Date.now();
    await store.write(testTask({ id: "long", standing: "input-required", updatedAt: now - 2_000 }), undefined);
    await store.write(testTask({ id: "short", standing: "input-required", updatedAt: now }), undefined);
    await store.write(testTask({ id: "over", standing: "input-required", updatedAt: now - 2_000 }), undefined);
    await store.write(
      testTask({ id: "over", standing: "failed" }),
      testTask({ id: "over", standing: "input-required" }),
    );

    expect((await store.waiting(now - 1_000)).map(({ id }) => id)).toEqual(["long"]);
    expect(await store.open()).toEqual([]);
  });

  test(`${name}: hooks of a task are kept with how far they were told, until they are dropped`, async () => {
    await using store = await create();
    const hook = { id: "h", taskId: testTask().id, by: "alice", url: "https://e.example/", version: "1.0" as const };
    await store.write(testTask(), undefined);
    await store.writeHook(hook);
    await store.writeHook({ ...hook, id: "gone" });
    await store.dropHook({ ...hook, id: "gone" });
    await store.tell({ ...hook, id: "gone" }, 3);
    await store.tell(hook, 3);

    expect(await store.hooks(hook.taskId)).toEqual([{ ...hook, told: 3 }]);
    expect(await store.hooked()).toMatchObject([{ taskId: hook.taskId, by: "alice" }]);
    await store.tell(hook, Number.POSITIVE_INFINITY);
    expect(await store.hooks(hook.taskId)).toEqual([{ ...hook, told: Number.POSITIVE_INFINITY }]);
    expect(await store.hooked()).toEqual([]);
  });

  test(`${name}: of two holders one has a hook, until it gives it back`, async () => {
    await using store = await create();
    const hook = { id: "h", taskId: testTask().id };
    expect(
      await Promise.all([store.holdHook(hook, "one"), store.holdHook(hook, "one"), store.holdHook(hook, "two")]),
    ).toEqual([true, true, false]);
    await store.releaseHook(hook, "two");
    expect(await store.holdHook(hook, "two")).toBe(false);
    await store.releaseHook(hook, "one");
    expect(await store.holdHook(hook, "two")).toBe(true);
  });
}

/** @param create a store in which one caller may have 2 MiB of texts */
export function testBytesOfTasks(name: string, create: () => Promise<TaskStore>): void {
  test(`${name}: a caller's large tasks push out its own that have ended, the oldest first, and nobody else's`, async () => {
    await using store = await create();
    const asked = "x".repeat(500_000);
    const now = Date.now();
    await store.write(testTask({ id: "other", by: "bob", standing: "completed" }), undefined);
    for (let i = 0; i < 10; i++)
      await store.write(testTask({ id: `task-${i}`, asked, standing: "completed", updatedAt: now + i }), undefined);
    expect((await store.list("alice")).map(({ id }) => id)).toEqual(["task-9", "task-8", "task-7", "task-6"]);
    for (let i = 0; i < 4; i++)
      await store.write(testTask({ id: `open-${i}`, asked, updatedAt: now + 10 + i }), undefined);
    await expect(store.write(testTask({ id: "one more", asked }), undefined)).rejects.toThrow(
      "take all the room that one caller may have",
    );
    expect((await store.list("alice")).map(({ id }) => id)).toEqual(["open-3", "open-2", "open-1", "open-0"]);
    await store.write(testTask({ id: "open-0", asked, standing: "completed" }), testTask({ id: "open-0", asked }));
    expect(await store.read("bob", "other")).toBeDefined();
  });
}

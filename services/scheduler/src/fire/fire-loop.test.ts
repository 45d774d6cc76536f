import { AsyncLocalStorage } from "node:async_hooks";
import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import { expect, onTestFinished, test, vi } from "vitest";
import { testTask } from "../store/conformance.ts";
import { createTestMemoryStore } from "../store/memory/test-memory-store.ts";
import { ScheduleBook } from "../store/schedule-book.ts";
import type { StoredTask } from "../store/schedule-store.ts";
import type { ScheduledTask } from "../task/scheduled-task.ts";
import type { AskedFire, AskOutcome } from "./ask-agent.ts";
import { FireLoop, type FireLoopOptions } from "./fire-loop.ts";

const NINE = Date.UTC(2026, 10, 25, 9);
const HOUR = 3_600_000;
const MINUTE = 60_000;
const done: AskOutcome = { outcome: "answered", text: "done", tokens: 100, isUntrusted: false };
const nobody: AskOutcome = { outcome: "failed", text: "nobody", isUntrusted: false, isRefused: true };

/** A loop on simulated time that begins at `now`, with an agent whose answers the test gives. */
function startScene({
  now = NINE,
  book = new ScheduleBook(),
  isShared = true,
}: {
  now?: number;
  book?: ScheduleBook;
  isShared?: boolean;
} = {}) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now });
  const asked: AskedFire[] = [];
  const answers: ((outcome: AskOutcome) => void)[] = [];
  const store = { ...createTestMemoryStore(Date.now, book), isShared };
  const loops: FireLoop[] = [];
  onTestFinished(async () => {
    for (const loop of loops) await loop.stop();
    vi.useRealTimers();
  });
  return {
    asked,
    store,
    /** Ends the oldest run that goes on. */
    answer: async (outcome: AskOutcome = done) => {
      answers.shift()?.(outcome);
      await vi.advanceTimersByTimeAsync(0);
    },
    put: async (task: ScheduledTask) => {
      await store.write({ key: task.key, caller: task.caller, version: undefined, task });
      return { now: async () => (await store.read(task.key))?.task };
    },
    start: async (options: Partial<FireLoopOptions> = {}) => {
      const ask = (fire: AskedFire) => {
        asked.push(fire);
        return new Promise<AskOutcome>((resolve) => answers.push(resolve));
      };
      const mostPerDay = { fires: 1_000, tokens: 1_000_000 };
      const loop = new FireLoop({
        store,
        ask,
        zone: "UTC",
        missedWindowMs: HOUR,
        maxRuns: 8,
        mostPerDay,
        log: silentLogger,
        ...options,
      });
      loops.push(loop);
      loop.wake();
      await vi.advanceTimersByTimeAsync(0);
      return loop;
    },
  };
}

test("a fire runs at its time, not before, and its end is noted", async () => {
  const scene = startScene({ now: NINE - MINUTE });
  const task = await scene.put(testTask({ nextAt: NINE }));
  await scene.start();
  await vi.advanceTimersByTimeAsync(MINUTE - 1);
  expect(scene.asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(scene.asked).toHaveLength(1);
  expect(scene.asked[0]).toMatchObject({
    caller: "asker",
    sessionId: "s1",
    message: expect.stringContaining("Wed 2026-11-25 09:00:00 +00:00 (UTC)"),
  });
  await vi.advanceTimersByTimeAsync(7_000);
  await scene.answer();
  expect(await task.now()).toMatchObject({
    nextAt: NINE + HOUR,
    lastRun: { fireAt: NINE, endedAt: NINE + 7_000, outcome: "answered", text: "done", tokens: 100 },
  });
  expect((await task.now())?.running).toBeUndefined();
  expect(await scene.store.usage("asker", "2026-11-25")).toEqual({ fires: 1, tokens: 100 });
});

test("there is never more than one timer, and a fire in 60 days comes in 60 days", async () => {
  const scene = startScene();
  await scene.put(testTask({ cron: "0 9 24 1 *", nextAt: NINE + 60 * 24 * HOUR }));
  const loop = await scene.start({ lookMs: Number.MAX_SAFE_INTEGER });
  for (let i = 0; i < 5; i++) loop.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(60 * 24 * HOUR - 1);
  expect(scene.asked).toEqual([]);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(scene.asked).toHaveLength(1);
});

test.each([
  ["59 minutes late runs", 59 * MINUTE, 1, undefined],
  ["61 minutes late is skipped", 61 * MINUTE, 0, "missed: no scheduler could take it in time"],
])("a fire that is %s", async (_, late, runs, reason) => {
  const scene = startScene({ now: NINE + late });
  const task = await scene.put(testTask({ cron: "0 9 * * *", nextAt: NINE }));
  await scene.start();
  expect(scene.asked).toHaveLength(runs);
  expect((await task.now())?.lastSkip?.reason).toBe(reason);
  expect((await task.now())?.nextAt).toBe(NINE + 24 * HOUR);
});

test("of many fires that were missed, the last one runs, and the others are named", async () => {
  const scene = startScene({ now: NINE + 30 * MINUTE });
  const task = await scene.put(testTask({ cron: "*/10 * * * *", nextAt: NINE - 5 * HOUR }));
  await scene.start();
  expect(scene.asked.map(({ message }) => message)).toEqual([expect.stringContaining("09:30:00")]);
  expect(await task.now()).toMatchObject({
    nextAt: NINE + 40 * MINUTE,
    lastSkip: {
      first: NINE - 5 * HOUR,
      last: NINE + 20 * MINUTE,
      reason: "missed: of several that were due at once, the last one runs",
    },
  });
});

test("a fire whose last run still goes on is skipped, and the next one comes", async () => {
  const scene = startScene();
  const task = await scene.put(testTask({ nextAt: NINE }));
  await scene.start();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(scene.asked).toHaveLength(1);
  expect((await task.now())?.lastSkip).toEqual({
    first: NINE + HOUR,
    last: NINE + HOUR,
    reason: "its last run still went on",
  });
  await scene.answer();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(scene.asked).toHaveLength(2);
});

test("a caller has so many fires on a day, and none once its tokens are used up; another caller has its own", async () => {
  const scene = startScene();
  const tasks = await Promise.all(["a", "b", "c"].map((name) => scene.put(testTask({ name, nextAt: NINE }))));
  const other = await scene.put(testTask({ caller: "other", nextAt: NINE }));
  await scene.start({ mostPerDay: { fires: 2, tokens: 150 } });
  expect(scene.asked).toHaveLength(3);
  const skipped = (await Promise.all(tasks.map(({ now }) => now()))).filter((task) => task?.lastSkip !== undefined);
  expect(skipped).toEqual([
    expect.objectContaining({
      nextAt: NINE + HOUR,
      lastSkip: { first: NINE, last: NINE, reason: "the fires or tokens of this caller's day were used up" },
    }),
  ]);
  for (let i = 0; i < 3; i++) await scene.answer();
  expect(await scene.store.usage("other", "2026-11-25")).toEqual({ fires: 1, tokens: 100 });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(scene.asked).toHaveLength(4); // the other caller's, whose 100 tokens are below the bound
  await scene.answer();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect((await other.now())?.lastSkip?.first).toBe(NINE + 2 * HOUR);
  await vi.advanceTimersByTimeAsync(14 * HOUR); // the next day
  expect(scene.asked.length).toBeGreaterThan(4);
});

test("a task that runs once is shown for a week with how it went, whether it ran well, failed, or was missed", async () => {
  const scene = startScene({ now: NINE });
  const [well, badly] = await Promise.all(
    ["well", "badly"].map((name) => scene.put(testTask({ name, isOnce: true, nextAt: NINE }))),
  );
  const missed = await scene.put(testTask({ name: "missed", isOnce: true, nextAt: NINE - 2 * HOUR }));
  await scene.start({ lookMs: HOUR });
  await scene.answer();
  await scene.answer({ outcome: "failed", text: "unavailable: nobody", isUntrusted: false });
  const left = [await well?.now(), await badly?.now()];
  expect(new Set(left.map((task) => task?.lastRun?.text))).toEqual(new Set(["done", "unavailable: nobody"]));
  for (const task of left) expect(task).toMatchObject({ keptUntil: NINE + 7 * 24 * HOUR });
  expect(left[0]?.nextAt).toBeUndefined();
  expect(await missed.now()).toMatchObject({
    keptUntil: NINE + 7 * 24 * HOUR,
    lastSkip: { reason: expect.stringContaining("missed") },
  });
  await vi.advanceTimersByTimeAsync(7 * 24 * HOUR + MINUTE);
  expect(await scene.store.tasksOf("asker")).toEqual([]);
  expect(scene.asked).toHaveLength(2);
});

test("a task keeps its last answers, so many, so many bytes and for a week, and one attempt of a fire is none of them", async () => {
  const scene = startScene();
  const task = await scene.put(testTask({ nextAt: NINE }));
  let count = 0;
  await scene.start({
    lookMs: HOUR,
    ask: async () =>
      count++ % 2 === 0 ? nobody : { ...done, text: `${Math.floor(count / 2)}${count > 14 ? "é".repeat(3_000) : ""}` },
  });
  await vi.advanceTimersByTimeAsync(6 * HOUR + 20 * MINUTE);
  expect((await task.now())?.lastRun?.text).toBe("7");
  expect((await task.now())?.earlierRuns?.map(({ text }) => text)).toEqual(["6", "5", "4", "3"]);
  await vi.advanceTimersByTimeAsync(4 * HOUR);
  expect((await task.now())?.earlierRuns?.map(({ text }) => Number.parseInt(text, 10))).toEqual([10, 9]);
  const { task: kept, version } = (await scene.store.read(testTask().key)) as StoredTask;
  await scene.store.write({
    key: kept.key,
    caller: kept.caller,
    version,
    task: { ...kept, nextAt: NINE + 9 * 24 * HOUR },
  });
  await vi.advanceTimersByTimeAsync(9 * 24 * HOUR - 10 * HOUR);
  expect((await task.now())?.earlierRuns).toBeUndefined();
});

test("a fire that no agent takes is asked for again under its id by any replica, counts once, and runs late", async () => {
  const scene = startScene();
  const task = await scene.put(testTask({ isOnce: true, nextAt: NINE }));
  const ask = async (fire: AskedFire): Promise<AskOutcome> => {
    scene.asked.push(fire);
    return Date.now() < NINE + 50 * MINUTE ? nobody : { ...done, outcome: "failed" }; // a task that runs once is removed if it ran well
  };
  const first = await scene.start({ ask });
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(await task.now()).toMatchObject({
    nextAt: NINE,
    lastRun: { outcome: "failed", text: "no agent has taken it yet, and it is asked for again. nobody" },
  });
  await first.stop();
  await scene.start({ ask });
  await vi.advanceTimersByTimeAsync(41 * MINUTE);
  expect(await task.now()).toMatchObject({ lastRun: { fireAt: NINE, outcome: "failed", text: "done" } });
  expect(new Set(scene.asked.map(({ fireId, message }) => fireId + message)).size).toBe(1);
  expect(scene.asked.length).toBeLessThan(50 * 4 + 20);
  expect(await scene.store.usage("asker", "2026-11-25")).toEqual({ fires: 1, tokens: 100 });
});

test.each([
  ["its window is over", { isOnce: true }, HOUR, undefined],
  ["the next one is due", { cron: "*/10 * * * *" }, 10 * MINUTE, NINE + 20 * MINUTE],
])("a fire that no agent takes ends in words when %s", async (_, more, lateMs, nextAt) => {
  const scene = startScene();
  const task = await scene.put(testTask({ nextAt: NINE, ...more }));
  await scene.start({ ask: async () => (Date.now() < NINE + 10 * MINUTE || nextAt === undefined ? nobody : done) });
  await vi.advanceTimersByTimeAsync(lateMs - MINUTE);
  expect((await task.now())?.nextAt).toBe(NINE);
  await vi.advanceTimersByTimeAsync(MINUTE + 1_000);
  const ended = await task.now();
  expect(ended).toMatchObject({
    lastRun:
      nextAt === undefined
        ? { outcome: "failed", text: "nobody" }
        : { outcome: "answered", fireAt: NINE + 10 * MINUTE },
  });
  expect([ended?.nextAt, ended?.notBefore]).toEqual([nextAt, undefined]);
});

test("a task hands its grant on, and one from before tasks had any runs as untrusted, and says why", async () => {
  const scene = startScene();
  await scene.put(testTask({ name: "new", nextAt: NINE, grant: "[1]" }));
  await scene.put(testTask({ name: "old", nextAt: NINE, grant: undefined }));
  await scene.start();
  await vi.advanceTimersByTimeAsync(3_000);
  const of = (name: string) => scene.asked.find(({ message }) => message.includes(`"${name}"`));
  expect(of("new")).toMatchObject({
    grant: "[1]",
    hasReadUntrusted: false,
    message: expect.not.stringContaining("earlier release"),
  });
  expect(of("old")).toMatchObject({
    hasReadUntrusted: true,
    message: expect.stringContaining("An earlier release has kept it without its rights"),
  });
  await scene.answer();
  await scene.answer();
});

test("a replica that is gone leaves its fire to another, which makes the same call", async () => {
  const book = new ScheduleBook();
  const scene = startScene({ book });
  const task = await scene.put(testTask({ nextAt: NINE, hasReadUntrusted: true }));
  const gone = await scene.start();
  await gone.stop(); // it says nothing more
  await scene.start();
  await vi.advanceTimersByTimeAsync(7_000);
  expect(scene.asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(scene.asked).toHaveLength(2);
  expect(scene.asked[1]).toEqual(scene.asked[0]);
  await scene.answer(); // that of the one that is gone: it comes first, and is noted
  await scene.answer();
  expect((await task.now())?.lastRun).toMatchObject({ fireAt: NINE, outcome: "answered" });
  expect(await scene.store.usage("asker", "2026-11-25")).toMatchObject({ fires: 1 });
});

test("a fire that a scheduler of an earlier release has taken without the task's grant keeps to it when another takes it over", async () => {
  const scene = startScene({ book: new ScheduleBook() });
  const running = {
    fireAt: NINE,
    fireId: "f",
    replica: "gone",
    takenAt: NINE,
    takeovers: 0,
    message: "do",
    hasReadUntrusted: false,
  };
  await scene.put(testTask({ nextAt: NINE + HOUR, grant: "[1]", running }));
  await scene.start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(scene.asked).toMatchObject([{ grant: "[1]" }]);
  await scene.answer();
});

test("a fire that three replicas have died over is not tried again", async () => {
  const scene = startScene();
  const running = {
    fireAt: NINE,
    fireId: "f",
    replica: "gone",
    takenAt: NINE,
    takeovers: 3,
    message: "do",
    hasReadUntrusted: false,
  };
  const task = await scene.put(testTask({ nextAt: NINE + HOUR, running }));
  await scene.start();
  expect(scene.asked).toEqual([]);
  expect((await task.now())?.lastRun).toMatchObject({
    outcome: "failed",
    text: "outcome_unknown: 3 schedulers ended while it ran",
  });
});

test("where nobody else could know of its call, a fire of a process that is gone ends in words", async () => {
  const scene = startScene({ isShared: false });
  const running = {
    fireAt: NINE,
    fireId: "f",
    replica: "gone",
    takenAt: NINE,
    takeovers: 0,
    message: "do",
    hasReadUntrusted: false,
  };
  const task = await scene.put(testTask({ nextAt: NINE + HOUR, running }));
  await scene.start();
  expect(scene.asked).toEqual([]);
  expect((await task.now())?.lastRun?.text).toBe("outcome_unknown: the scheduler ended while it ran");
});

test("runs so many at a time, and the rest as these end", async () => {
  const scene = startScene();
  for (let i = 0; i < 100; i++) await scene.put(testTask({ name: `task ${i}`, cron: "0 9 * * *", nextAt: NINE }));
  const loop = await scene.start({ maxRuns: 3 });
  for (let i = 0; i < 100; i++) {
    expect(loop.running).toBeLessThanOrEqual(3);
    expect(scene.asked).toHaveLength(Math.min(100, i + 3));
    await scene.answer();
  }
  expect(new Set(scene.asked.map(({ fireId }) => fireId)).size).toBe(100);
});

test("a run whose task was cancelled meanwhile counts its tokens, and brings the task back for nobody", async () => {
  const scene = startScene();
  const task = await scene.put(testTask({ nextAt: NINE }));
  await scene.start();
  const stored = await scene.store.read(testTask().key);
  await scene.store.write({ key: testTask().key, caller: "asker", version: stored?.version, task: undefined });
  await scene.answer();
  expect(await task.now()).toBeUndefined();
  expect(await scene.store.usage("asker", "2026-11-25")).toEqual({ fires: 1, tokens: 100 });
});

test("a fire time never comes twice when the clock is set back", async () => {
  const scene = startScene();
  await scene.put(testTask({ cron: "*/10 * * * *", nextAt: NINE }));
  await scene.start();
  await scene.answer();
  vi.setSystemTime(NINE - 30 * MINUTE);
  await vi.advanceTimersByTimeAsync(35 * MINUTE);
  expect(scene.asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  expect(scene.asked).toHaveLength(2);
});

test("sees within its look that the clock was set forward", async () => {
  const scene = startScene({ now: NINE - 30 * MINUTE });
  await scene.put(testTask({ nextAt: NINE }));
  await scene.start();
  vi.setSystemTime(NINE + MINUTE);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(scene.asked).toHaveLength(1);
});

test("a task of a time zone that is not known here ends in words, and holds up no other task", async () => {
  const scene = startScene();
  const task = await scene.put(testTask({ name: "far", zone: "Mars/Phobos", nextAt: NINE - MINUTE }));
  await scene.put(testTask({ nextAt: NINE }));
  await scene.start();
  expect(scene.asked).toHaveLength(1);
  expect((await task.now())?.lastSkip?.reason).toBe("its cron expression or time zone is not known to this scheduler");
});

test("a task that cannot be dealt with holds up no other task, and is logged once", async () => {
  const scene = startScene();
  const { cron: _, ...rest } = testTask({ name: "broken", nextAt: NINE - MINUTE });
  await scene.put(rest as ScheduledTask);
  await scene.put(testTask({ nextAt: NINE }));
  const errors: object[] = [];
  await scene.start({ log: { ...silentLogger, error: (fields) => errors.push(fields) } });
  expect(scene.asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(errors).toEqual([expect.objectContaining({ task: "broken", caller: "asker" })]);
});

test("tasks that cannot be dealt with are looked at no more often than others, however many they are", async () => {
  const scene = startScene();
  const { cron: _, ...rest } = testTask({ nextAt: NINE - MINUTE });
  for (let i = 0; i < 70; i++) await scene.put({ ...rest, name: `broken ${i}`, key: `broken ${i}` } as ScheduledTask);
  const look = vi.spyOn(scene.store, "look");
  await scene.start();
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(look.mock.calls.length).toBeLessThanOrEqual(61);
});

test("a store of this process alone that takes no change is told once, until it takes one again", async () => {
  const scene = startScene({ isShared: false });
  await scene.put(testTask({ cron: "* * * * *", nextAt: NINE }));
  const errors: object[] = [];
  let isAway = true;
  const write: typeof scene.store.write = (change) =>
    isAway
      ? Promise.reject(new StoreUnavailableError("Cannot write: another process has changed the file"))
      : scene.store.write(change);
  await scene.start({
    store: { ...scene.store, write },
    log: { ...silentLogger, error: (fields) => errors.push(fields) },
  });
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(errors).toEqual([{ error: expect.stringContaining("another process has changed the file") }]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(scene.asked).toHaveLength(1);
  await scene.answer();
  isAway = true;
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(errors).toHaveLength(2);
});

test("a fire runs outside the call that made its task", async () => {
  const call = new AsyncLocalStorage<string>();
  const scene = startScene({ now: NINE - MINUTE });
  const seen: (string | undefined)[] = [];
  const loop = await scene.start({
    ask: async () => {
      seen.push(call.getStore());
      return done;
    },
  });
  await scene.put(testTask({ cron: "* * * * *", nextAt: NINE }));
  call.run("the call", () => loop.wake());
  await vi.advanceTimersByTimeAsync(2 * MINUTE);
  expect(seen).toEqual([undefined, undefined]);
});

test("a fire whose taking had no answer from the store runs all the same, once", async () => {
  const scene = startScene();
  const task = await scene.put(testTask({ nextAt: NINE }));
  let isCut = true;
  const write: typeof scene.store.write = async (change) => {
    const outcome = await scene.store.write(change);
    if (!isCut) return outcome;
    isCut = false;
    throw new StoreUnavailableError("Cannot change a scheduled task: the connection is lost");
  };
  await scene.start({ store: { ...scene.store, write } });
  expect(scene.asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(scene.asked).toHaveLength(1);
  await scene.answer();
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(scene.asked).toHaveLength(1);
  expect((await task.now())?.lastRun?.outcome).toBe("answered");
});

test("a run whose end the store does not take at first is noted later, and its tokens are counted once", async () => {
  const scene = startScene();
  const task = await scene.put(testTask({ nextAt: NINE }));
  let failures = 0;
  const write: typeof scene.store.write = async (change) => {
    if (change.spend?.tokens === 100 && failures++ < 3) {
      if (failures === 3) await scene.store.write(change); // made, without an answer
      throw new StoreUnavailableError("Cannot change a scheduled task: the connection is lost");
    }
    return scene.store.write(change);
  };
  await scene.start({ store: { ...scene.store, write } });
  await scene.answer();
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await task.now())?.lastRun?.outcome).toBe("answered");
  expect(await scene.store.usage("asker", "2026-11-25")).toEqual({ fires: 1, tokens: 100 });
});

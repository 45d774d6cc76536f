import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { silentLogger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { describe, expect, test, vi } from "vitest";
import type { Sandbox } from "../sandbox.ts";
import type { ScriptJob, ScriptRunner } from "../script-runner.ts";
import { unbegunError } from "../unbegun.ts";
import { type PooledRunnerOptions, pooledRunner } from "./pooled-runner.ts";
import { type TestMaker, testMaker, testSandbox } from "./test-sandboxes.ts";

const LONG_MS = 20_000;

const startRunner = (maker: TestMaker, options: Partial<PooledRunnerOptions> = {}): ScriptRunner =>
  pooledRunner(maker, { floor: 0, ceiling: 4, idleMs: LONG_MS, keepBytes: 10_000, log: silentLogger, ...options });

let jobs = 0;
const jobOf = (script: string): ScriptJob => ({ id: `job-${++jobs}`, script, timeoutMs: LONG_MS });
const inTime = (signal: AbortSignal = new AbortController().signal, ms = LONG_MS) => ({
  signal,
  deadline: performance.now() + ms,
});
const unavailable = (message: string) => new ToolError(ToolErrorCode.Unavailable, message);

/** A sandbox that is gone at once, and has said nothing. */
const lost = (begins: "has not begun" | "may have begun"): Sandbox => ({
  ...testSandbox(),
  output: Readable.from([]),
  gone: Promise.resolve({
    isOutOfMemory: false,
    error: new ToolError(ToolErrorCode.ExecutionFailed, "cut off"),
    unbegun: begins === "has not begun" ? unbegunError("preempted", "It had to go.") : undefined,
  }),
});

describe("pooledRunner", () => {
  test("gives a script that has certainly not begun to another sandbox, a few times", async () => {
    const maker = testMaker();
    const first = [lost("has not begun"), lost("has not begun")];
    await using runner = startRunner({
      ...maker,
      make: async (options) => first.shift() ?? (await maker.make(options)),
    });
    expect(await runner.run(jobOf("hello"), inTime())).toMatchObject({ stdout: "hello", exitCode: 0 });

    await using hopeless = startRunner({ ...maker, make: async () => lost("has not begun") });
    await expect(hopeless.run(jobOf("hello"), inTime())).rejects.toMatchObject({
      code: "unavailable",
      isRetryable: true,
      details: { reason: "preempted" },
    });
  });

  test("does so where the sandbox went before it was ready", async () => {
    let made = 0;
    const maker = testMaker({
      beforeMake() {
        if (++made === 1) throw unbegunError("evicted", "It had to go.");
      },
    });
    await using runner = startRunner(maker);

    expect(await runner.run(jobOf("hello"), inTime())).toMatchObject({ stdout: "hello", exitCode: 0 });
  });

  test("gives no other sandbox to a script that may have begun", async () => {
    const maker = testMaker();
    const first = [lost("may have begun")];
    await using runner = startRunner({
      ...maker,
      make: async (options) => first.shift() ?? (await maker.make(options)),
    });

    await expect(runner.run(jobOf("hello"), inTime())).rejects.toMatchObject({
      code: "execution_failed",
      message: "cut off",
    });
  });

  test("gives a script a warm sandbox, throws it away and replaces it", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker, { floor: 1 });
    await vi.waitFor(() => expect(maker.alive).toHaveLength(1));

    const { stdout, isWarm } = await runner.run(jobOf("hello"), inTime());

    expect({ stdout, isWarm }).toEqual({ stdout: "hello", isWarm: true });
    expect(maker.made[0]?.assigned).toHaveLength(1);
    await vi.waitFor(() => {
      expect(maker.made[0]?.isDisposed).toBe(true);
      expect(maker.alive).toHaveLength(1);
    });
  });

  test("makes a sandbox for a script that finds none warm, and keeps one warm for the next", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker);
    expect(maker.made).toHaveLength(0);
    const job = jobOf("first");

    const first = await runner.run(job, inTime());
    await vi.waitFor(() => expect(maker.alive).toHaveLength(1));
    const second = await runner.run(jobOf("second"), inTime());

    expect(first.isWarm).toBe(false);
    expect(maker.made[0]?.madeFor).toBe(job.id);
    expect(second.isWarm).toBe(true);
  });

  test("never has two scripts in one sandbox, nor more sandboxes than its ceiling", async () => {
    let most = 0;
    const maker: TestMaker = testMaker({
      beforeMake() {
        most = Math.max(most, maker.alive.length + 1);
      },
    });
    await using runner = startRunner(maker, { ceiling: 3 });

    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => runner.run(jobOf(`${index}`), inTime())),
    );

    expect(outcomes.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 30 }, (_, index) => `${index}`));
    expect(most).toBeLessThanOrEqual(3);
    expect(Math.max(...maker.made.map(({ assigned }) => assigned.length))).toBe(1);
  });

  test("keeps as many warm as were wanted at once lately, and throws them away down to the floor when nobody comes", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker, { ceiling: 8, floor: 1, idleMs: 200 });
    const cancel = new AbortController();
    const held = Promise.allSettled(Array.from({ length: 3 }, () => runner.run(jobOf("hold"), inTime(cancel.signal))));
    await vi.waitFor(() => expect(maker.alive).toHaveLength(6));
    cancel.abort();
    await held;

    await vi.waitFor(() => expect(maker.alive).toHaveLength(1), { timeout: LONG_MS });
  });

  test("keeps as many warm as came lately one after another, faster than a new one is made", async () => {
    const closed = Promise.withResolvers<void>();
    let isClosed = false;
    const maker = testMaker({ beforeMake: async () => await (isClosed ? closed.promise : wait(500)) });
    await using runner = startRunner(maker, { floor: 1 });
    await vi.waitFor(() => expect(maker.alive).toHaveLength(1), { timeout: LONG_MS });

    for (const script of ["first", "second"]) await runner.run(jobOf(script), inTime());
    await vi.waitFor(() => expect(maker.alive).toHaveLength(2), { timeout: LONG_MS });
    isClosed = true;

    for (const script of ["third", "fourth"]) expect((await runner.run(jobOf(script), inTime())).isWarm).toBe(true);
    closed.resolve();
  });

  test("scales to zero", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker, { idleMs: 50 });
    await runner.run(jobOf("once"), inTime());
    await vi.waitFor(() => expect(maker.made).toHaveLength(2));

    await vi.waitFor(() => expect(maker.alive).toHaveLength(0), { timeout: LONG_MS });
  });

  test("lets those wait who come at the ceiling, in the order of coming", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker, { ceiling: 1 });
    const cancel = new AbortController();
    const holding = runner.run(jobOf("hold"), inTime(cancel.signal));
    await vi.waitFor(() => expect(maker.made).toHaveLength(1));
    const order: string[] = [];
    const waiting = ["a", "b", "c"].map((name) =>
      runner.run(jobOf(name), inTime()).then(({ stdout }) => order.push(stdout)),
    );

    cancel.abort(new Error("given up"));
    await expect(holding).rejects.toThrow("given up");
    await Promise.all(waiting);

    expect(order).toEqual(["a", "b", "c"]);
  });

  test("a script that waited long for its sandbox has what is left of its call's time, less what its answer takes", async () => {
    const maker = testMaker({ beforeMake: () => wait(400) });
    await using runner = startRunner(maker);

    const { stdout } = await runner.run(jobOf("job"), inTime(undefined, 10_000));

    const { timeoutMs, withinMs } = JSON.parse(stdout);
    expect(timeoutMs).toBe(LONG_MS);
    expect(withinMs).toSatisfy((ms: number) => Number.isInteger(ms) && ms > 0 && ms <= 10_000 - 400 - 500);
  });

  test("answers overloaded when no sandbox comes by the deadline, and at once when too many wait", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker, { ceiling: 1, maxWaiting: 1 });
    const cancel = new AbortController();
    const holding = runner.run(jobOf("hold"), inTime(cancel.signal)).catch(() => {});
    await vi.waitFor(() => expect(maker.made).toHaveLength(1));

    const late = runner.run(jobOf("late"), inTime(undefined, 600));
    await expect(runner.run(jobOf("too many"), inTime())).rejects.toMatchObject({ code: "overloaded" });
    await expect(late).rejects.toMatchObject({
      code: "overloaded",
      retryAfterMs: 1_000,
      message: expect.stringMatching(/all \d+ sandboxes that there may be at once are in use\. Try again later\./),
    });
    cancel.abort();
    await holding;
  });

  test("has the sandbox gone when a script that was given up says so", async () => {
    const maker = testMaker({ beforeGone: () => wait(20) });
    await using runner = startRunner(maker);
    const cancel = new AbortController();
    const holding = runner.run(jobOf("hold"), inTime(cancel.signal));
    await vi.waitFor(() => expect(maker.made[0]?.assigned).toHaveLength(1));

    cancel.abort(new Error("given up"));

    await expect(holding).rejects.toThrow("given up");
    expect(maker.made[0]?.isDisposed).toBe(true);
  });

  test("ends a script at the deadline of its call", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker);

    await expect(runner.run(jobOf("hold"), inTime(undefined, 500))).rejects.toMatchObject({
      code: "timeout",
      details: { mayHaveRun: true },
    });

    expect(maker.made[0]?.isDisposed).toBe(true);
  });

  test("replaces a warm sandbox that is gone", async () => {
    const maker = testMaker();
    await using runner = startRunner(maker, { floor: 1 });
    await vi.waitFor(() => expect(maker.alive).toHaveLength(1));

    maker.made[0]?.fail("evicted");

    await vi.waitFor(() => expect(maker.made[0]?.isDisposed).toBe(true));
    await vi.waitFor(() => expect(maker.alive).toHaveLength(1));
    expect((await runner.run(jobOf("hello"), inTime())).stdout).toBe("hello");
  });

  test("tries less and less often while sandboxes cannot be made, says why, and goes on once they can", async () => {
    let isBroken = true;
    const maker = testMaker({
      beforeMake: () => {
        if (isBroken) throw unavailable("the image is away");
      },
    });
    await using runner = startRunner(maker, { floor: 2 });
    await vi.waitFor(() => expect(maker.asked).toHaveLength(4), { timeout: LONG_MS });

    const asked = maker.asked.length;
    const refused = Array.from({ length: 50 }, () => runner.run(jobOf("never"), inTime()));
    const errors = await Promise.all(refused.map((run) => run.catch((error: unknown) => error)));
    expect(errors[0]).toMatchObject({
      code: "unavailable",
      message: "the image is away",
      retryAfterMs: expect.any(Number),
    });
    expect(maker.asked.length - asked).toBeLessThanOrEqual(1);

    isBroken = false;
    await vi.waitFor(() => expect(maker.alive).toHaveLength(2), { timeout: LONG_MS });
    expect((await runner.run(jobOf("hello"), inTime())).stdout).toBe("hello");
  });

  test("lets a script wait where the maker has no room, until one ends", async () => {
    let room = 1;
    const maker = testMaker({
      beforeMake: () => {
        if (room === 0) throw new ToolError(ToolErrorCode.Overloaded, "the quota is used up");
        room--;
      },
      beforeGone: async () => {
        room++;
      },
    });
    await using runner = startRunner(maker, { ceiling: 10 });
    const cancel = new AbortController();
    const holding = runner.run(jobOf("hold"), inTime(cancel.signal)).catch(() => {});
    await vi.waitFor(() => expect(maker.made).toHaveLength(1));
    const waiting = runner.run(jobOf("later"), inTime());
    await vi.waitFor(() => expect(maker.asked.length).toBeGreaterThan(3), { timeout: LONG_MS });

    cancel.abort();
    await holding;

    expect((await waiting).stdout).toBe("later");
  });

  test("where the maker has room for few, tries no more than replace those that end, and keeps to the order of coming", async () => {
    let room = 1;
    let refused = 0;
    const maker = testMaker({
      beforeMake: () => {
        if (room === 0) {
          refused++;
          throw new ToolError(ToolErrorCode.Overloaded, "the quota is used up");
        }
        room--;
      },
      beforeGone: async () => {
        room++;
      },
    });
    await using runner = startRunner(maker, { ceiling: 12 });
    const names = Array.from({ length: 12 }, (_, index) => `${index}`);
    const order: string[] = [];

    await Promise.all(names.map((name) => runner.run(jobOf(name), inTime()).then(({ stdout }) => order.push(stdout))));

    expect(order).toEqual(names);
    expect(refused).toBeLessThanOrEqual(2 * names.length); // were all to try whenever one ends, it would be six times as many
  });

  test("takes failures of sandboxes that were made side by side for one: who waits is not refused for them", async () => {
    const broken = Promise.withResolvers<void>();
    let isBroken = true;
    const maker = testMaker({
      beforeMake: async () => {
        if (!isBroken) return;
        await broken.promise;
        throw unavailable("the engine is away");
      },
    });
    await using runner = startRunner(maker, { ceiling: 8 });
    const runs = Promise.allSettled(Array.from({ length: 4 }, () => runner.run(jobOf("hello"), inTime())));
    await vi.waitFor(() => expect(maker.asked).toHaveLength(8));
    isBroken = false;
    broken.resolve();

    expect((await runs).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled", "fulfilled"]);
  });

  test("answers for a sandbox that breaks under its script, and does not run it again", async () => {
    const maker = testMaker();
    const said: unknown[] = [];
    await using runner = startRunner(maker, {
      log: { ...silentLogger, error: (...words: unknown[]) => void said.push(words) },
    });
    const holding = runner.run(jobOf("hold"), inTime());
    await vi.waitFor(() => expect(maker.made[0]?.assigned).toHaveLength(1));

    maker.made[0]?.fail("the node is lost");

    await expect(holding).rejects.toMatchObject({ code: "execution_failed", message: "the node is lost" });
    expect(said).toEqual([
      [
        expect.objectContaining({ error: expect.stringContaining("the node is lost") }),
        "a sandbox broke while its script ran",
      ],
    ]);
    expect(maker.made.flatMap(({ assigned }) => assigned)).toHaveLength(1);
  });

  test("takes another sandbox when somebody else has taken the warm one", async () => {
    let isTaken = true;
    const maker = testMaker({
      async assign() {
        if (!isTaken) return;
        isTaken = false;
        throw unavailable("taken");
      },
    });
    await using runner = startRunner(maker, { floor: 1 });
    await vi.waitFor(() => expect(maker.alive).toHaveLength(1));

    expect((await runner.run(jobOf("hello"), inTime())).stdout).toBe("hello");
    expect(maker.made[0]?.isDisposed).toBe(true);
  });

  test("looks for the sandbox of a job that may have begun, and takes it up", async () => {
    const found = testSandbox();
    const asked: string[] = [];
    const maker = testMaker({
      find: async (jobId) => {
        asked.push(jobId);
        return jobId === "begun" ? found : undefined;
      },
    });
    await using runner = startRunner(maker);
    expect(runner.isResumable).toBe(true);

    const outcome = await runner.run({ ...jobOf("hello"), id: "begun" }, { ...inTime(), mayHaveBegun: true });
    expect(outcome.stdout).toBe("hello");
    expect(maker.made.flatMap(({ assigned }) => assigned)).toEqual([]);
    expect(found.assigned).toEqual([]);

    await runner.run({ ...jobOf("hello"), id: "not begun" }, { ...inTime(), mayHaveBegun: true });
    expect(maker.made.flatMap(({ assigned }) => assigned)).toEqual(["not begun"]);
    expect(asked).toEqual(["begun", "not begun"]);
    expect(startRunner(testMaker()).isResumable).toBe(false);
  });

  test("a maker that never comes to an end costs its job no more than its deadline", async () => {
    const maker = testMaker({ beforeMake: () => new Promise<void>(() => {}) });
    await using runner = startRunner(maker, { makeWithinMs: 200 });

    await expect(runner.run(jobOf("never"), inTime())).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("within 0.2 s"),
    });
    await expect(runner.run(jobOf("never"), inTime(undefined, 300))).rejects.toMatchObject({ code: "overloaded" });
  });

  test("when disposed of, ends what runs, refuses who waits, and leaves nothing", async () => {
    const maker = testMaker();
    const runner = startRunner(maker, { ceiling: 1 });
    const running = runner.run(jobOf("hold"), inTime());
    await vi.waitFor(() => expect(maker.made).toHaveLength(1));
    const waiting = runner.run(jobOf("never"), inTime());
    const both = Promise.allSettled([running, waiting]);

    await runner[Symbol.asyncDispose]();

    expect((await both).map((one) => one.status === "rejected" && one.reason.code)).toEqual([
      "unavailable",
      "unavailable",
    ]);
    expect(maker.alive).toHaveLength(0);
    await expect(runner.run(jobOf("never"), inTime())).rejects.toMatchObject({ code: "unavailable" });
  });

  test("when disposed of, waits for sandboxes that are being made to be none", async () => {
    let isMaking = false;
    const maker = testMaker({
      beforeMake: async (signal) => {
        isMaking = true;
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        await wait(50);
        isMaking = false;
      },
    });
    const runner = startRunner(maker, { floor: 1 });
    await vi.waitFor(() => expect(isMaking).toBe(true));

    await runner[Symbol.asyncDispose]();

    expect(isMaking).toBe(false);
  });

  test("leaves what runs to whoever takes it up when the process stops, but ends what is cancelled", async () => {
    const maker = testMaker({ find: async () => undefined });
    const runner = startRunner(maker);
    const [cancel, stop] = [new AbortController(), new AbortController()];
    const runs = [inTime(cancel.signal), inTime(stop.signal), inTime()].map((options) =>
      runner.run(jobOf("hold"), options),
    );
    const ends = Promise.allSettled(runs);
    await vi.waitFor(() => expect(maker.made.filter(({ assigned }) => assigned.length === 1)).toHaveLength(3));
    const [cancelled, stopped, disposed] = maker.made.filter(({ assigned }) => assigned.length === 1);

    cancel.abort(new ToolError(ToolErrorCode.Cancelled, "given up"));
    stop.abort(new Error("SIGTERM"));
    await vi.waitFor(() => expect(cancelled?.isDisposed).toBe(true));
    expect(stopped?.isDisposed).toBe(false);
    await runner[Symbol.asyncDispose]();

    expect(maker.alive).toEqual([stopped, disposed]);
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });

  test("refuses bounds that make no sense", () => {
    expect(() => startRunner(testMaker(), { floor: 5, ceiling: 4 })).toThrow(RangeError);
    expect(() => startRunner(testMaker(), { ceiling: 0 })).toThrow(RangeError);
  });
});

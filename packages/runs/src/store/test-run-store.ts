import { setImmediate } from "node:timers/promises";
import { StoreFullError } from "@rockbot/records";
import { describe, expect, test } from "vitest";
import { MAX_ENDED_RUNS, MAX_OPEN_RUNS, type Run, RunState } from "../run.ts";
import type { EndedRun, RunStore } from "../run-store.ts";
import { Runs } from "../runs.ts";
import { testRun } from "../test-run.ts";
import type { RunEvent } from "../transitions.ts";

/** Numbers between 0 and 1 that are the same at each run of the tests. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** The promises of every store of runs, as tests. `create` makes an empty one each time. */
export function testRunStore(name: string, create: () => Promise<RunStore>): void {
  describe(name, () => {
    test("gives back a run as it was written, whatever is in its names", async () => {
      await using store = await create();
      const now = await store.now();
      for (const toolCallId of ["a", "__proto__", "é\u202e:1", "x".repeat(128), "\ud800"]) {
        const run = testRun({ toolCallId, createdAt: now });
        expect(await store.create(run)).toBe(true);
        expect(await store.create(run)).toBe(false);
        expect((await store.read(run))?.run).toEqual(run);
      }
      expect(await store.read({ service: "other", caller: "ada", toolCallId: "a" })).toBeUndefined();
      expect(await store.read({ service: "mail", caller: "eve", toolCallId: "a" })).toBeUndefined();
    });

    test("replaces the version that was read, and no other", async () => {
      await using store = await create();
      const run = testRun({ createdAt: await store.now() });
      await store.create(run);
      const first = await store.read(run);
      if (first === undefined) throw new Error("the run is not there");
      expect(await store.replace(first, { ...run, attempt: 1 })).toBe(true);
      expect(await store.replace(first, { ...run, attempt: 2 })).toBe(false);
      expect((await store.read(run))?.run.attempt).toBe(1);
    });

    test("knows which runs are due, and when the next one is", async () => {
      await using store = await create();
      const now = await store.now();
      const ready = testRun({ toolCallId: "ready", state: RunState.Ready, readyAt: now - 2, createdAt: now });
      const parked = testRun({ toolCallId: "parked", isKept: true, createdAt: now, expiresAt: now + 60_000 });
      const over = testRun({ toolCallId: "over", isKept: true, createdAt: now - 9, expiresAt: now - 1 });
      for (const run of [parked, over, ready]) await store.create(run);
      const { runs, nextMs } = await store.due("mail", 10);
      expect(runs.map(({ run }) => run.toolCallId)).toEqual(["ready", "over"]);
      expect(nextMs).toBeGreaterThan(30_000);
      expect((await store.due("mail", 1)).runs.map(({ run }) => run.toolCallId)).toEqual(["ready"]);
      expect((await store.due("mail", 1)).nextMs).toBe(0);
      expect((await store.due("other", 10)).runs).toEqual([]);
    });

    test("lists what waits for people before what does not, so that no number of others hides it", async () => {
      await using store = await create();
      const createdAt = await store.now();
      const ready = (toolCallId: string) =>
        testRun({ toolCallId, state: RunState.Ready, createdAt: createdAt - 9, readyAt: createdAt });
      for (const id of ["r1", "r2"]) await store.create(ready(id));
      await store.create(testRun({ toolCallId: "waits", createdAt }));
      expect((await store.open("mail", 2)).map(({ toolCallId }) => toolCallId)).toEqual(["waits", "r1"]);
    });

    test("lists what has not ended, the oldest first", async () => {
      await using store = await create();
      const now = await store.now();
      for (const [at, toolCallId] of ["b", "a", "c"].entries())
        await store.create(testRun({ toolCallId, createdAt: now + at }));
      const ended = await new Runs(store).change(testRun({ toolCallId: "a" }), {
        kind: "cancelled",
        end: { code: "cancelled", at: now },
      });
      expect(ended).toMatchObject({ state: RunState.Ended });
      expect((await store.open("mail", 10)).map(({ toolCallId }) => toolCallId)).toEqual(["b", "c"]);
      expect((await store.open("mail", 1)).map(({ toolCallId }) => toolCallId)).toEqual(["b"]);
    });

    test("lists what has ended by when that was noted, also once its callers have heard of it", async () => {
      await using store = await create();
      const runs = new Runs(store);
      const since = await store.now();
      for (const toolCallId of ["a", "b", "open"]) await store.create(testRun({ toolCallId, createdAt: since }));
      const cancelled = { kind: "cancelled", end: { code: "cancelled", at: since - 5_000 } } as const; // noted late
      for (const toolCallId of ["b", "a"]) {
        await runs.change(testRun({ toolCallId }), cancelled);
        await expect
          .poll(() => store.now())
          .toBeGreaterThan((await store.ended("mail", since, 9)).at(-1)?.notedAt ?? 0);
      }
      await runs.change(testRun({ toolCallId: "b" }), { kind: "told", waiters: testRun().waiters });
      const idsOf = (ended: readonly EndedRun[]) => ended.map(({ run }) => run.toolCallId);
      const ended = await store.ended("mail", since, 9);
      expect(idsOf(ended)).toEqual(["b", "a"]);
      expect(idsOf(await store.ended("mail", since, 1))).toEqual(["b"]);
      expect(idsOf(await store.ended("mail", ended[1]?.notedAt ?? 0, 9))).toEqual(["a"]);
      expect(await store.ended("other", since, 9)).toEqual([]);
    });

    test("keeps no caller from having runs because of another's, and none without bound", async () => {
      await using store = await create();
      const createdAt = await store.now();
      for (let each = 0; each < MAX_OPEN_RUNS; each++)
        await store.create(testRun({ toolCallId: `${each}`, caller: "eve", createdAt }));
      const more = testRun({ toolCallId: "more", caller: "eve", createdAt });
      await expect(store.create(more)).rejects.toThrow(StoreFullError);
      expect(await store.create(testRun({ createdAt }))).toBe(true);
      await new Runs(store).change(
        { ...more, toolCallId: "7" },
        { kind: "cancelled", end: { code: "cancelled", at: createdAt } },
      );
      expect(await store.create(more)).toBe(true);
    });

    test("keeps the newest ends of a caller, and those of others", async () => {
      await using store = await create();
      const createdAt = await store.now();
      const runs = new Runs(store);
      const ended = async (run: Run) => {
        await store.create(run);
        await runs.change(run, { kind: "cancelled", end: { code: "cancelled", at: await store.now() } });
      };
      const named = (toolCallId: string) => testRun({ toolCallId, createdAt });
      const other = testRun({ caller: "eve", createdAt });
      for (const run of [other, named("oldest")]) await ended(run);
      while ((await store.now()) === createdAt) await setImmediate(); // what comes is newer
      for (let each = 0; each < MAX_ENDED_RUNS; each += 50)
        await Promise.all(Array.from({ length: 50 }, (_, at) => ended(named(`${each + at}`))));
      expect(await store.read(named("oldest"))).toBeUndefined();
      for (const run of [other, named("0")]) expect((await store.read(run))?.run.state).toBe(RunState.Ended);
    });

    test("starts no run undecided, none twice and none after its end, however many change it at once", async () => {
      await using store = await create();
      const runs = new Runs(store);
      const createdAt = await store.now();
      const names = Array.from({ length: 20 }, (_, each) => `run-${each}`);
      const starts = new Map<string, number>();
      const decided = new Set<string>();
      for (const toolCallId of names) await store.create(testRun({ toolCallId, createdAt, isKept: true }));
      const end = { code: "ok", at: createdAt };
      /** One process or person, which does what comes to its mind. */
      const actor = async (owner: string, random: () => number): Promise<void> => {
        const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
        for (let step = 0; step < 60; step++) {
          const toolCallId = pick(names);
          const event = pick<RunEvent>([
            { kind: "taken", owner },
            { kind: "taken", owner },
            { kind: "started", owner },
            { kind: "started", owner },
            { kind: "released", owner },
            { kind: "renewed", owner },
            { kind: "ended", owner, end },
            { kind: "decided", decision: { statement: owner, signature: "" }, verdict: { is: "approved" } },
            { kind: "decided", decision: { statement: owner, signature: "" }, verdict: { is: "partly" } },
            { kind: "cancelled", end: { code: "cancelled", at: createdAt } },
            { kind: "withdrawn", end: { code: "cancelled", at: createdAt } },
          ]);
          if (event.kind === "decided" && event.verdict.is === "approved") decided.add(toolCallId);
          const run = await runs.change(testRun({ toolCallId }), event);
          if (typeof run !== "string" && event.kind === "started") {
            starts.set(toolCallId, (starts.get(toolCallId) ?? 0) + 1);
            expect(decided).toContain(toolCallId);
          }
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, each) => actor(`p${each}`, seeded(each + 1))));
      expect([...starts.values()].filter((times) => times > 1)).toEqual([]);
      expect(starts.size).toBeGreaterThan(0);
      for (const toolCallId of names) {
        const run = (await store.read(testRun({ toolCallId })))?.run;
        expect(run?.hasStarted).toBe(starts.has(toolCallId));
        if (run?.end?.code === "cancelled") expect(run.hasStarted).toBe(false);
      }
    });

    test("lets exactly one of many that take a run at once have it", async () => {
      await using store = await create();
      const run: Run = testRun({ state: RunState.Ready, createdAt: await store.now(), readyAt: await store.now() });
      await store.create(run);
      const runs = new Runs(store);
      const owners = Array.from({ length: 8 }, (_, each) => `p${each}`);
      const taken = await Promise.all(owners.map((owner) => runs.change(run, { kind: "taken", owner })));
      expect(taken.filter((each) => typeof each !== "string")).toHaveLength(1);
      expect((await store.read(run))?.run.attempt).toBe(1);
    });
  });
}

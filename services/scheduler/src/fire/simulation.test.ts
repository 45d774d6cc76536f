import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createTestMemoryStore } from "../store/memory/test-memory-store.ts";
import { connectRedisScheduleStore } from "../store/redis/index.ts";
import { ScheduleBook } from "../store/schedule-book.ts";
import { type FireFate, type Simulation, simulate } from "./test-simulation.ts";

const seed = Number(process.env["ROCKBOT_TEST_SEED"] ?? 20_261_125);
const MINUTE = 60_000;
/** A machine that does much else takes minutes. */
const TIMEOUT_MS = 240_000;

/** Uniform in [0, 1), and the same for the same seed: mulberry32. */
function seededRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The days on which the clocks of the zones are set, in the order of time. */
const EDGES = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01"];
const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];
const CRONS = [
  "*/15 * * * *",
  "*/20 * * * *",
  "7 * * * *",
  "30 2 * * *",
  "45 1 * * *",
  "0,30 1-3 * * *",
  "*/30 2 * * *",
  "15 0 9 * * 0-6",
];

const tasksOf = (crons: readonly string[], runsMs?: number) =>
  ZONES.flatMap((zone) =>
    crons.map((cron) => ({
      name: `${cron} ${zone} ${runsMs ?? ""}`,
      cron,
      zone,
      ...(runsMs === undefined ? {} : { runsMs }),
    })),
  );

/** @returns figures of all fires, once each is accounted for */
function accountFor(fates: readonly FireFate[]) {
  const sum = (of: (fate: FireFate) => number): number => fates.reduce((total, fate) => total + of(fate), 0);
  const calm = fates.filter(({ isDisturbed }) => !isDisturbed);
  const name = ({ task, fireAt, runs, skips }: FireFate): string =>
    `${task} at ${new Date(fireAt).toISOString()}: ${runs} runs, skipped: ${skips.join("; ")}`;
  expect(fates.filter(({ runs }) => runs > 1).map(name)).toEqual([]); // none double
  expect(fates.filter(({ runs, skips }) => runs + skips.length !== 1).map(name)).toEqual([]); // each has run, or was skipped in words, and not both
  const isOverlap = ({ skips: [words = ""] }: FireFate): boolean => words.endsWith("its last run still went on");
  expect(
    calm.filter((fate) => fate.runs === 0 && !(fate.task.endsWith(`${40 * MINUTE}`) && isOverlap(fate))).map(name),
  ).toEqual([]); // none missed without trouble
  expect(Math.max(...calm.map(({ lateMs }) => lateMs))).toBeLessThan(10_000);
  return {
    fires: fates.length,
    calm: calm.length,
    runs: sum(({ runs }) => runs),
    overlaps: sum((fate) => (isOverlap(fate) ? 1 : 0)),
    missed: sum((fate) => (fate.runs === 0 && !isOverlap(fate) ? 1 : 0)),
    late: sum(({ runs, lateMs }) => (runs === 1 && lateMs > 10 * MINUTE ? 1 : 0)),
    takenOver: sum(({ asks, runs }) => asks - runs),
  };
}

test(`of 10 000 fires, over both edges of three zones, with kills and clock steps, none is double and none missed but as the policy says: ROCKBOT_TEST_SEED=${seed}`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const book = new ScheduleBook();
  const { fates, kills, steps } = await simulate({
    storeOf: async (clock) => createTestMemoryStore(clock, book),
    tasks: [...tasksOf(CRONS), ...tasksOf(["*/15 * * * *"], 40 * MINUTE)],
    days: EDGES,
    troubleEveryMs: 5 * 60 * MINUTE,
    random: seededRandom(seed),
  });
  const figures = { ...accountFor(fates), kills, steps };
  expect(figures.fires).toBeGreaterThan(10_000);
  for (const [figure, least] of Object.entries({
    calm: 4_000,
    runs: 7_000,
    overlaps: 100,
    missed: 50,
    late: 20,
    takenOver: 10,
    kills: 10,
    steps: 10,
  })) {
    expect([figure, figures[figure as keyof typeof figures]]).toEqual([
      figure,
      expect.toSatisfy((value: number) => value >= least),
    ]);
  }
});

test(`the same holds with the tasks in Redis: ROCKBOT_TEST_SEED=${seed}`, { timeout: TIMEOUT_MS }, async () => {
  const url = await sharedRedisUrl();
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using stores = new AsyncDisposableStack();
  const options: Simulation = {
    storeOf: async (clock) => stores.use(await connectRedisScheduleStore(url, { prefix, clock })),
    tasks: [...tasksOf(["*/20 * * * *", "30 2 * * *", "0,30 1-3 * * *"]), ...tasksOf(["*/15 * * * *"], 40 * MINUTE)],
    days: ["2026-10-04", "2026-10-25"],
    troubleEveryMs: 3 * 60 * MINUTE,
    random: seededRandom(seed),
  };
  const { fates, kills, steps } = await simulate(options);
  const figures = { ...accountFor(fates), kills, steps };
  expect(figures.fires).toBeGreaterThan(1_000);
  expect(figures.takenOver).toBeGreaterThan(0);
  expect(Math.min(figures.kills, figures.steps)).toBeGreaterThan(0);
});

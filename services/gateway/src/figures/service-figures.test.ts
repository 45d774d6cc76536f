import type { CallCounts } from "@rockbot/contracts";
import type { InstanceReport } from "@rockbot/tools";
import { expect, test } from "vitest";
import { MINUTE_MS, MINUTES_OF_DAY } from "./day-of-minutes.ts";
import { ServiceFigures } from "./service-figures.ts";

const START = 1_000_000 * MINUTE_MS;

/** Counts of so many calls, all of the fifth bucket: from 5 to 7 ms. */
const counts = (ok: number, failed = 0): CallCounts => ({
  outcomes: [
    { code: "ok", count: ok },
    { code: "timeout", count: failed },
  ],
  durations: [0, 0, 0, 0, ok + failed],
  inFlight: 1,
  oldestMs: ok,
});

function figuresOf() {
  const clock = { now: START };
  let said: Readonly<Record<string, readonly InstanceReport[]>> = {};
  const figures = new ServiceFigures({ reports: () => new Map(Object.entries(said)), clock: () => clock.now });
  return {
    figures,
    /** What is heard so many seconds after the last time. */
    after(seconds: number, reports: typeof said) {
      clock.now += seconds * 1_000;
      said = reports;
      figures.tick();
    },
  };
}
const instance = (name: string, calls?: CallCounts, epoch = START): InstanceReport => ({
  instance: name,
  epoch,
  ...(calls === undefined ? {} : { calls }),
});

test("figures add up instances and services, and a service that says nothing has none", () => {
  const { figures, after } = figuresOf();
  after(0, { web: [instance("a", counts(0))], plain: [instance("x")] });
  after(10, { web: [instance("a", counts(20)), instance("b", counts(8, 2))], rest: [instance("r", counts(10))] });

  expect(figures.of("plain")).toBeNull();
  expect(figures.of("web")).toMatchObject({
    perSecond: 3,
    ended: 30,
    failed: 2,
    codes: { timeout: 2 },
    inFlight: 2,
    oldestMs: 20,
  });
  expect(figures.of()).toMatchObject({ perSecond: 4, ended: 40, failed: 2, inFlight: 3 });
  expect(figures.of("web")?.p50).toBeCloseTo(6);
});

test("a restart loses no calls and counts none twice, under a new name or the old one", () => {
  const { figures, after } = figuresOf();
  after(0, { web: [instance("a", counts(1_000), START - 3_600_000)] }); // before anybody looked
  after(5, { web: [instance("a", counts(1_010), START - 3_600_000)] });
  expect(figures.of("web")?.ended).toBe(10);
  after(5, { web: [] });
  after(5, { web: [instance("b", counts(3), START + 10_000)] });
  after(5, { web: [instance("a", counts(1_012), START - 3_600_000), instance("b", counts(1), START + 10_000)] });
  expect(figures.of("web")?.ended).toBe(10 + 3 + 2 + 1);
});

test("a minute without calls is zero, and one in which nobody was heard of is a gap", () => {
  const { figures, after } = figuresOf();
  after(0, { web: [instance("a", counts(0))] });
  after(30, { web: [instance("a", counts(6))] });
  after(60, { web: [instance("a", counts(6))] });
  after(180, { web: [instance("a", counts(7, 1))] });
  after(60, { web: [instance("a", counts(7, 1))] });

  const { from, ended, failed, p50 } = figures.minutes("web", 6);
  expect(from).toBe(START);
  expect(ended).toEqual([6, 0, null, null, 2, 0]);
  expect(failed).toEqual([0, 0, null, null, 1, 0]);
  expect(p50.map((ms) => ms !== null)).toEqual([true, false, false, false, true, false]);
  expect(figures.minutes("web").ended.length).toBe(MINUTES_OF_DAY);
  expect(figures.lastHour.slice(-2)).toEqual([
    expect.objectContaining({ ended: 2, failed: 1 }),
    expect.objectContaining({ ended: 0, p50: null }),
  ]);
});

test("the number of services is bounded, and a new one has the room of one that was silent for a day", () => {
  const { figures, after } = figuresOf();
  const many = (from: number, to: number) =>
    Object.fromEntries(
      Array.from({ length: to - from }, (_, n) => [`s${from + n}`, [instance("a", counts(1))]] as const),
    );
  after(0, many(0, 300));
  expect([figures.of("s0")?.ended, figures.of("s299")]).toEqual([1, null]);
  after(2 * 86_400, { new: [instance("a", counts(5), START + 2 * 86_400_000)] });
  expect(figures.of("new")?.ended).toBe(5);
});

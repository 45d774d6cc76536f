import { expect, test } from "vitest";
import { CallTally, DURATION_BOUNDS_MS } from "./call-tally.ts";

test("a tally counts ends by code, and how long calls took that were not refused", () => {
  const tally = new CallTally();
  const ends: [string, number][] = [
    ["ok", 1],
    ["ok", 1.5],
    ["tool_error", 2],
    ["denied", 0.1],
    ["superseded", 5],
  ];
  for (let i = 0; i < ends.length + 1; i++) tally.began();
  for (const [status, ms] of ends) tally.ended(status, ms);
  tally.refused("tool_not_found");
  expect(tally.counts(7.4)).toEqual({
    outcomes: [
      { code: "ok", count: 2 },
      { code: "tool_error", count: 1 },
      { code: "denied", count: 1 },
      { code: "tool_not_found", count: 1 },
    ],
    durations: [1, 2],
    inFlight: 1,
    oldestMs: 7,
  });
});

test("a tally has at most 32 rows and 32 buckets, whatever tools make up", () => {
  const tally = new CallTally();
  for (let i = 0; i < 100; i++) {
    tally.began();
    tally.ended(`made_up_${i}`, 10_000_000);
  }
  const { outcomes, durations } = tally.counts(0);
  expect(outcomes.length).toBe(32);
  expect(outcomes.at(-1)).toEqual({ code: "other", count: 69 });
  expect([durations.length, durations.at(-1)]).toEqual([32, 100]);
  expect(DURATION_BOUNDS_MS.length).toBe(31);
});

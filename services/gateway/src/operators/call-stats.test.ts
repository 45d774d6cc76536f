import { expect, test } from "vitest";
import { callStats } from "./call-stats.ts";

const MINUTE = 60_000;
const now = 100 * MINUTE + 30_000;
const call = (
  endAt: number,
  tookMs: number,
  state: "answered" | "failed" | "timed_out" = "answered",
  code?: string,
) => ({
  state,
  code,
  deadlineAt: endAt + 1_000,
  steps: [
    { step: "asked", at: endAt - tookMs } as const,
    { step: state, at: endAt } as const,
    { step: "late_answer", at: endAt + 5 * MINUTE } as const,
  ],
});

test("calls count in the minute in which they ended, and empty minutes have no times", () => {
  const times = Array.from({ length: 100 }, (_, i) => call(now - 1_000, i + 1));
  const { minutes } = callStats([...times, call(99 * MINUTE, 7), call(30 * MINUTE, 1)], now);
  expect(minutes.map(({ at }) => at)).toEqual(Array.from({ length: 60 }, (_, i) => (41 + i) * MINUTE));
  expect(minutes.slice(-3)).toEqual([
    { at: 98 * MINUTE, ended: 0, failed: 0, p50: null, p95: null },
    { at: 99 * MINUTE, ended: 1, failed: 0, p50: 7, p95: 7 },
    { at: 100 * MINUTE, ended: 100, failed: 0, p50: 50, p95: 95 },
  ]);
});

test("failures count by code, or by how they ended; open calls run until their deadline", () => {
  const open = { state: "running", code: undefined, steps: [{ step: "asked", at: now } as const] } as const;
  const stats = callStats(
    [
      call(now, 1, "failed", "denied"),
      call(now, 1, "failed", "denied"),
      call(now, 1, "timed_out"),
      { ...open, deadlineAt: now + 1 },
      { ...open, deadlineAt: now },
    ],
    now,
  );
  expect(stats.codes).toEqual({ denied: 2, timed_out: 1 });
  expect([stats.running, stats.minutes.at(-1)?.failed]).toEqual([1, 3]);
});

import { afterEach, expect, test, vi } from "vitest";
import { TimeOutBreaker } from "./time-out-breaker.ts";

afterEach(() => void vi.useRealTimers());

/** Asked five times for a tool that had so much time and gave no answer. */
function brokenAfter(hadMs: number): TimeOutBreaker {
  vi.useFakeTimers({ toFake: ["performance"] });
  const breaker = new TimeOutBreaker();
  for (let i = 0; i < 5; i++) {
    expect(breaker.refusal("s", "slow", hadMs)).toBeUndefined();
    breaker.timedOut("slow", hadMs);
  }
  return breaker;
}

test("after five time-outs in a row calls with no more time are refused at once; others, and other tools, are not", () => {
  const breaker = brokenAfter(10_000);
  expect(breaker.refusal("s", "slow", 10_000)).toMatchObject({
    code: "unavailable",
    isRetryable: true,
    retryAfterMs: 30_000,
    details: { mayHaveRun: false },
  });
  expect(breaker.refusal("s", "slow", 10_001)).toBeUndefined();
  expect(breaker.refusal("s", "quick", 1)).toBeUndefined();
});

test("after a while one call is tried; an answer ends it, a further time-out does not", () => {
  const breaker = brokenAfter(10_000);
  vi.advanceTimersByTime(30_000);
  expect(breaker.refusal("s", "slow", 5_000)).toBeUndefined();
  expect(breaker.refusal("s", "slow", 5_000)).toBeDefined();
  breaker.timedOut("slow", 5_000);
  expect(breaker.refusal("s", "slow", 10_000)).toBeDefined();
  breaker.answered("slow");
  expect(breaker.refusal("s", "slow", 1)).toBeUndefined();
});

import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { askTwice } from "./ask-twice.ts";

/** Asks a site that always says `retryAfterMs`, and counts how often. Time passes as the test has it. */
function ask(retryAfterMs: number, { deadlineMs = 60_000, signal = new AbortController().signal } = {}) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const answer = askTwice(
    () => Promise.reject(new ToolError(ToolErrorCode.RateLimited, `too many, number ${++asked}`, { retryAfterMs })),
    {
      signal,
      deadline: performance.now() + deadlineMs,
    },
  );
  answer.catch(() => {}); // looked at once the time has passed
  return { answer, asked: () => asked };
}

test.each([
  [0, 500],
  [499, 500],
  [2_000, 2_000],
])("a site that says %d ms is asked again after %d ms, and no sooner", async (retryAfterMs, waitMs) => {
  const { answer, asked } = ask(retryAfterMs);
  await vi.advanceTimersByTimeAsync(waitMs - 1);
  expect(asked()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked()).toBe(2);
  await expect(answer).rejects.toThrow("too many, number 2");
});

test("a site is not asked again after a long wait, nor with less than a second left, nor once the call is over", async () => {
  await expect(ask(20_001).answer).rejects.toThrow("too many, number 1");
  await expect(ask(5_000, { deadlineMs: 5_999 }).answer).rejects.toThrow("too many, number 1");

  const stop = new AbortController();
  const { answer, asked } = ask(0, { signal: stop.signal });
  await vi.advanceTimersByTimeAsync(100);
  stop.abort();
  await expect(answer).rejects.toThrow("aborted");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked()).toBe(1);
});

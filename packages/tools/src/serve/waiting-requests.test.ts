import { expect, test, vi } from "vitest";
import { WaitingRequests } from "./waiting-requests.ts";

test("the age of the oldest request is what its timestamp proves, or its wait here if that is longer", () => {
  vi.useFakeTimers({ now: 100_900, toFake: ["Date", "performance"] });
  try {
    using waiting = new WaitingRequests("a");
    const here = performance.now();
    expect([waiting.count, waiting.oldestMs]).toEqual([0, 0]);
    const published = waiting.add(90, here);
    using _younger = waiting.add(100, here);
    expect([waiting.count, waiting.oldestMs]).toEqual([2, 9_900]);
    published.started();
    published[Symbol.dispose]();
    expect([waiting.count, waiting.oldestMs]).toEqual([1, 0]);
    vi.advanceTimersByTime(50);
    expect(waiting.oldestMs).toBe(50);
  } finally {
    vi.useRealTimers();
  }
});

test("a false timestamp counts no more than a call may take, and hides no wait", () => {
  using waiting = new WaitingRequests("a");
  using _old = waiting.add(1, performance.now());
  expect(waiting.oldestMs).toBe(20 * 60_000);
  using other = new WaitingRequests("b");
  using _future = other.add(99_999_999_999, performance.now() - 5_000);
  expect(other.oldestMs).toBeGreaterThanOrEqual(5_000);
});

import { expect, test, vi } from "vitest";
import { Deadlines } from "./deadlines.ts";

test("what is due is called once, in order, never early, and not when it was called off", async () => {
  const deadlines = new Deadlines();
  const start = performance.now();
  const called: [string, number][] = [];
  const note = (name: string) => () => called.push([name, performance.now() - start]);
  deadlines.after(60, note("late"));
  const callOff = deadlines.after(30, note("never"));
  deadlines.after(30, note("early"));
  deadlines.after(-5, note("overdue"));
  callOff();
  callOff();
  await vi.waitFor(() => expect(called.map(([name]) => name)).toEqual(["overdue", "early", "late"]));
  expect(called[1]?.[1]).toBeGreaterThanOrEqual(30);
  expect(called[2]?.[1]).toBeGreaterThanOrEqual(60);
});

test("one that is called off or added while others are due counts as such", async () => {
  const deadlines = new Deadlines();
  const called: string[] = [];
  deadlines.after(1, () => {
    called.push("first");
    callOff();
    deadlines.after(0, () => called.push("added"));
  });
  const callOff = deadlines.after(1, () => called.push("never"));
  await vi.waitFor(() => expect(called).toEqual(["first", "added"]));
});

test("nothing ticks once nothing is due any more", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  try {
    const deadlines = new Deadlines();
    deadlines.after(1_000, () => {})();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

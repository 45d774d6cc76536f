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

test("nothing rings before the earliest is due, and after it what is left rings in time", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance"] });
  const ring = () => vi.advanceTimersToNextTimer().advanceTimersToNextTimer(); // the timer, and once sockets are read what it is for
  try {
    const deadlines = new Deadlines();
    const called: string[] = [];
    deadlines.after(90_000, () => called.push("last"));
    const callOff = deadlines.after(30_000, () => called.push("never"));
    deadlines.after(60_000, () => called.push("first"));
    callOff();
    ring(); // what was called off
    expect(called).toEqual([]);
    ring();
    expect(called).toEqual(["first"]);
    ring();
    expect(called).toEqual(["first", "last"]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("the process is kept alive while there is a deadline, and no longer", () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const deadlines = new Deadlines();
  const callOff = deadlines.after(60_000, () => {});
  expect(timers()).toBe(before + 1);
  callOff();
  expect(timers()).toBe(before);
  deadlines.after(70_000, () => {})();
  const callOffAgain = deadlines.after(60_000, () => {});
  expect(timers()).toBe(before + 1);
  callOffAgain();
  expect(timers()).toBe(before);
});

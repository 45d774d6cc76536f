import { expect, test } from "vitest";
import { RunningCalls } from "./running-calls.ts";

const never = new AbortController().signal;

test("a call that is cancelled before it comes is aborted from the start, and has not run", () => {
  const calls = new RunningCalls();
  calls.cancel("agent", "call-1", "no longer wanted");
  const call = calls.start("agent", "call-1", never);
  expect(call.signal.reason).toMatchObject({ code: "cancelled", details: { mayHaveRun: false } });
  const others = calls.start("another", "call-1", never);
  expect(others.signal.aborted).toBe(false);
});

test("a cancelled call is remembered whatever number of calls another caller cancels and ends", () => {
  const calls = new RunningCalls();
  calls.cancel("agent", "call-1", "no longer wanted");
  const ended = calls.start("agent", "call-2", never);
  ended.end();
  for (let i = 0; i < 50_000; i++) {
    calls.cancel("flood", `call-${i}`, "of an id that nobody knows");
    calls.start("flood", `other-${i}`, never).end();
  }
  expect(calls.start("agent", "call-1", never).signal.aborted).toBe(true);
  calls.cancel("agent", "call-2", "too late");
  expect(calls.start("agent", "call-2", never).signal.reason).toMatchObject({ details: { mayHaveRun: true } });
});

test.each(["while it runs", "after it has ended"])(
  "a call that is cancelled %s may have run, also when it comes again",
  (when) => {
    const calls = new RunningCalls();
    const first = calls.start("agent", "call-1", never);
    if (when === "after it has ended") first.end();
    calls.cancel("agent", "call-1", "too late");
    first.end();
    calls.cancel("agent", "call-1", "and once more");
    const again = calls.start("agent", "call-1", never);
    expect(again.signal.reason).toMatchObject({ code: "cancelled", details: { mayHaveRun: true } });
  },
);

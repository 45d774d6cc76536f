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

test.each(["while it runs", "after it has ended"])("a call that is cancelled %s may have run, also when it comes again", (when) => {
  const calls = new RunningCalls();
  const first = calls.start("agent", "call-1", never);
  if (when === "after it has ended") first.end();
  calls.cancel("agent", "call-1", "too late");
  first.end();
  calls.cancel("agent", "call-1", "and once more");
  const again = calls.start("agent", "call-1", never);
  expect(again.signal.reason).toMatchObject({ code: "cancelled", details: { mayHaveRun: true } });
});

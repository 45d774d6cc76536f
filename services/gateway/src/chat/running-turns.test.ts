import { ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { RunningTurns } from "./running-turns.ts";

const gone = new ToolError("cancelled", "gone");

/** Turns that never end by themselves; says which were cancelled. */
function turnsOf() {
  const turns = new RunningTurns();
  const cancelled: string[] = [];
  const visit = (toolCallId: string, by: string | undefined, goesOn = true) =>
    turns.visit({ toolCallId, by, input: {}, goesOn }, (signal) => {
      signal.addEventListener("abort", () => cancelled.push(toolCallId));
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
  return { visit, cancelled };
}

test("a caller can leave so many turns to themselves, and no more; another caller can still", () => {
  const { visit, cancelled } = turnsOf();
  for (let i = 0; i < 34; i++) visit(`alice-${i}`, "alice").leave(gone);
  visit("bob", "bob").leave(gone);

  expect(cancelled).toEqual(["alice-32", "alice-33"]);
});

test("all callers together have a bound of their own", () => {
  const { visit, cancelled } = turnsOf();
  for (let i = 0; i < 130; i++) visit(`${i}`, `caller-${i % 10}`).leave(gone);

  expect(cancelled).toEqual(["128", "129"]);
});

test("a turn that its client has come back to is not one that was left", () => {
  const { visit, cancelled } = turnsOf();
  for (let i = 0; i < 32; i++) visit(`${i}`, undefined).leave(gone);
  const back = visit("0", undefined);
  visit("32", undefined).leave(gone);
  expect([back.hasJoined, cancelled]).toEqual([true, []]);
  back.leave(gone);

  expect(cancelled).toEqual(["0"]);
});

test("a turn ends with the last of its clients", () => {
  const { visit, cancelled } = turnsOf();
  const [one, two] = [visit("t", undefined, false), visit("t", undefined, false)];
  one.leave(gone);
  one.leave(gone);
  expect(cancelled).toEqual([]);
  two.leave(gone);

  expect(cancelled).toEqual(["t"]);
});

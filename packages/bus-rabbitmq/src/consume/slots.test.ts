import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

test("gives its places away at once, and then in the order of asking as they come free", () => {
  const slots = new Slots(2);
  const started: string[] = [];
  expect([slots.tryEnter(), slots.tryEnter(), slots.tryEnter()]).toEqual([true, true, false]);
  for (const name of ["a", "b", "c"]) slots.enterLater(() => started.push(name));
  expect(slots.waiting).toBe(3);
  slots.leave();
  slots.leave();
  expect([started, slots.waiting, slots.tryEnter()]).toEqual([["a", "b"], 1, false]);
  for (let left = 0; left < 3; left++) slots.leave();
  expect([started, slots.tryEnter(), slots.tryEnter(), slots.tryEnter()]).toEqual([["a", "b", "c"], true, true, false]);
});

test("does not start what was withdrawn", () => {
  const slots = new Slots(1);
  const started: string[] = [];
  slots.tryEnter();
  const withdrawn = slots.enterLater(() => started.push("a"));
  slots.enterLater(() => started.push("b"));
  withdrawn.remove();
  slots.leave();
  withdrawn.remove();
  expect(started).toEqual(["b"]);
});

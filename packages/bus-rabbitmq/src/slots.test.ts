import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

test("starts as many as there are places, and the rest in order as places come free", () => {
  const slots = new Slots(2);
  const started: string[] = [];
  for (const name of ["a", "b", "c", "d"]) slots.enter(() => started.push(name));
  expect(started).toEqual(["a", "b"]);
  slots.leave();
  slots.leave();
  expect(started).toEqual(["a", "b", "c", "d"]);
});

test("does not start what was withdrawn", () => {
  const slots = new Slots(1);
  const started: string[] = [];
  slots.enter(() => started.push("a"));
  const withdraw = slots.enter(() => started.push("b"));
  withdraw();
  slots.leave();
  slots.enter(() => started.push("c"));
  expect(started).toEqual(["a", "c"]);
});

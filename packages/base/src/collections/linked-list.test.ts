import { expect, test } from "vitest";
import { LinkedList } from "./linked-list.ts";

test("what is added is taken out in that order, but for what was removed before", () => {
  const list = new LinkedList<string>();
  const entries = ["a", "b", "c", "d"].map((name) => list.add(name));
  entries[0]?.remove();
  entries[2]?.remove();
  entries[2]?.remove();

  expect([...list]).toEqual(["b", "d"]);
  expect([list.takeOldest(), list.takeOldest(), list.takeOldest()]).toEqual(["b", "d", undefined]);
  expect(list.isEmpty).toBe(true);
  entries[1]?.remove();
  list.add("e");
  entries[3]?.remove();
  expect([list.isEmpty, list.takeOldest()]).toEqual([false, "e"]);
});

test("is drained of what is added meanwhile, too", () => {
  const list = new LinkedList<number>();
  list.add(1);
  const drained: number[] = [];
  for (const value of list.drain()) {
    drained.push(value);
    if (value < 3) list.add(value + 1);
  }
  expect([drained, list.isEmpty]).toEqual([[1, 2, 3], true]);
});

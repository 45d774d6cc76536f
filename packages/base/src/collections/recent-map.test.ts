import { expect, test } from "vitest";
import { RecentMap } from "./recent-map.ts";

test("the newest are remembered, and no more than twice as many as asked for", () => {
  const map = new RecentMap<number, string>(100);
  for (let key = 0; key < 1_000; key++) {
    map.set(key, `value ${key}`);
    const remembered = map.newestFirst();
    expect(remembered.length).toBeLessThanOrEqual(200);
    expect(remembered.slice(0, 3)).toEqual([`value ${key}`, `value ${key - 1}`, `value ${key - 2}`].slice(0, key + 1));
  }
  for (let key = 900; key < 1_000; key++) expect(map.get(key)).toBe(`value ${key}`);
  expect(map.has(999)).toBe(true);
  expect(map.has(700)).toBe(false);
});

test("an entry that is set again counts once, as new, with its new value", () => {
  const map = new RecentMap<string, number>(2);
  for (const [value, key] of ["a", "b", "c", "a"].entries()) map.set(key, value);
  expect(map.newestFirst()).toEqual([3, 2, 1]);
  expect(map.get("a")).toBe(3);
  map.set("a", 4); // makes nobody else forgotten
  expect(map.newestFirst()).toEqual([4, 2, 1]);
});

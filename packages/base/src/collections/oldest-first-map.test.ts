import { expect, test } from "vitest";
import { OldestFirstMap } from "./oldest-first-map.ts";

function mapOf(...keys: string[]): OldestFirstMap<string, string> {
  const map = new OldestFirstMap<string, string>();
  for (const key of keys) map.set(key, key.toUpperCase());
  return map;
}

test("entries are walked in the order of their setting", () => {
  const map = mapOf("a", "b", "c");
  expect([...map]).toEqual([
    ["a", "A"],
    ["b", "B"],
    ["c", "C"],
  ]);
  expect(map.oldest).toMatchObject({ key: "a", value: "A" });
});

test("an entry that is set again becomes the newest, with its new value", () => {
  const map = mapOf("a", "b");
  map.set("a", "again");
  expect([...map]).toEqual([
    ["b", "B"],
    ["a", "again"],
  ]);
  expect(map.size).toBe(2);
});

test("deleting at the front, in the middle and at the end keeps the order of the rest", () => {
  const map = mapOf("a", "b", "c", "d", "e");
  for (const key of ["a", "c", "e"]) expect(map.delete(key)).toBe(true);
  expect(map.delete("a")).toBe(false);
  expect([...map].map(([key]) => key)).toEqual(["b", "d"]);
  expect(map.oldest?.key).toBe("b");
  map.delete("b");
  map.delete("d");
  expect(map.oldest).toBeUndefined();
  expect([...map]).toEqual([]);
});

test("it is used as a bounded memory of the newest", () => {
  const map = new OldestFirstMap<number, number>();
  for (let key = 0; key < 50_000; key++) {
    map.set(key, -key);
    map.deleteOldestWhile(() => map.size > 100);
  }
  expect(map.oldest?.key).toBe(49_900);
  expect(map.get(49_899)).toBeUndefined();
  expect(map.get(49_999)).toBe(-49_999);
});

test("a cleared map is empty, and works on", () => {
  const map = mapOf("a");
  map.clear();
  expect([map.size, map.oldest, [...map]]).toEqual([0, undefined, []]);
  map.set("b", "B");
  expect(map.oldest?.key).toBe("b");
});

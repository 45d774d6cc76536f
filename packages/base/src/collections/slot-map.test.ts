import { expect, test } from "vitest";
import { SlotMap } from "./slot-map.ts";

test("it holds what a Map would, whatever comes and goes", () => {
  const map = new SlotMap<string, number>();
  const same = new Map<string, number>();
  let random = 7;
  for (let step = 0; step < 20_000; step++) {
    random = (random * 48_271) % 2_147_483_647;
    const key = `key ${random % 50}`;
    if (random % 3 === 0) {
      map.delete(key);
      same.delete(key);
    } else {
      map.set(key, step);
      same.set(key, step);
    }
    expect(map.get(key)).toBe(same.get(key));
    expect(map.has(key)).toBe(same.has(key));
    expect(map.size).toBe(same.size);
  }
  expect(map.values()).toEqual([...same.values()]);
  map.clear();
  expect([map.size, map.values(), map.get("key 1")]).toEqual([0, [], undefined]);
});

import type { Charge } from "@rockbot/base";
import { expect, test } from "vitest";
import { testRateStore } from "../conformance.ts";
import { createMemoryRateStore } from "./memory-rate-store.ts";

testRateStore("MemoryRateStore", async () => createMemoryRateStore());

const call: Charge = { key: "bucket", amount: 60, perMs: 60_000, cost: 1 };

test("fills at an even pace", async () => {
  let now = 1_000_000;
  await using store = createMemoryRateStore({ clock: () => now });
  for (let i = 0; i < 60; i++) await store.take([call]);
  for (let second = 0; second < 120; second++) {
    expect(await store.take([call])).toEqual({ index: 0, retryAfterMs: 1_000 });
    now += 1_000;
    expect(await store.take([call])).toBeUndefined();
  }
  now += 3_600_000;
  for (let i = 0; i < 60; i++) expect(await store.take([call])).toBeUndefined();
  expect(await store.take([call])).toBeDefined();
});

test("forgets the bucket that was used longest ago when there are too many", async () => {
  await using store = createMemoryRateStore({ maxBuckets: 2 });
  const of = (key: string): Charge => ({ ...call, key, amount: 1 });
  for (const key of ["a", "b", "c"]) expect(await store.take([of(key)])).toBeUndefined();
  expect(await store.take([of("c")])).toBeDefined();
  expect(await store.take([of("b")])).toBeDefined();
  expect(await store.take([of("a")])).toBeUndefined();
});

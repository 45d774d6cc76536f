import { randomBytes } from "node:crypto";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { Lease } from "./lease.ts";
import { connectRedisLeaseStore } from "./redis/index.ts";

const url = await sharedRedisUrl();
const newPrefix = () => `test-${randomBytes(6).toString("hex")}`;
const newStore = (prefix = newPrefix()) => connectRedisLeaseStore(url, { prefix });

test("one of several has the lease, all know who, and the next has it once it is given back", async () => {
  await using store = await newStore();
  const first = new Lease(store, "right", { owner: "first" });
  await first.look();
  await using second = new Lease(store, "right", { owner: "second", leaseMs: 400 });
  await second.look();
  expect([first.isHeld, second.isHeld]).toEqual([true, false]);
  expect(second.holder).toEqual(first.holder);
  const before = first.holder?.fence ?? Number.NaN;
  await first[Symbol.asyncDispose]();
  expect(first.isHeld).toBe(false);
  await expect.poll(() => second.isHeld, { timeout: 10_000 }).toBe(true);
  expect(second.holder?.fence).toBeGreaterThan(before);
});

test("whoever is silent for too long loses it, and knows so before another can have it", async () => {
  const prefix = newPrefix();
  await using store = await newStore(prefix);
  const silent = await newStore(prefix);
  await using stuck = new Lease(silent, "right", { owner: "stuck", leaseMs: 1_000 });
  await stuck.look();
  expect(stuck.isHeld).toBe(true);
  await silent[Symbol.asyncDispose](); // from now on it cannot renew
  await using next = new Lease(store, "right", { owner: "next", leaseMs: 1_000 });
  let wereBoth = false;
  next.onChange(() => {
    wereBoth ||= next.isHeld && stuck.isHeld;
  });
  await expect.poll(() => next.isHeld, { timeout: 20_000 }).toBe(true);
  expect(wereBoth).toBe(false);
});

test("changes are told, also that one's own time has run out", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisLeaseStore(redis.url, {});
  await using lease = new Lease(store, "right", { owner: "me", leaseMs: 400 });
  await lease.look();
  const ended = new Promise<void>((resolve) => lease.onChange(() => !lease.isHeld && resolve()));
  await redis.kill();
  await ended;
  expect(lease.isHeld).toBe(false);
});

test("a note is left by the holder alone, stays when the lease changes hands, and is read again only if it is another", async () => {
  await using store = await newStore();
  await store.hold("right", { owner: "a", leaseMs: 60_000 });
  await store.leaveNote("right", "b", { tag: "1", text: "from b" });
  expect(await store.readNote("right")).toBeUndefined();
  await store.leaveNote("right", "a", { tag: "1", text: "from a." });
  await store.release("right", "a");
  await store.hold("right", { owner: "b", leaseMs: 60_000 });
  expect(await store.readNote("right")).toEqual({ tag: "1", text: "from a." });
  expect(await store.readNote("right", "1")).toBeUndefined();
  expect(await store.readNote("right", "2")).toEqual({ tag: "1", text: "from a." });
});

test("the fence rises with each taking, and not with a renewal", async () => {
  await using store = await newStore();
  const hold = async () => (await store.hold("right", { owner: "a", leaseMs: 60_000 })).fence;
  const first = await hold();
  expect(await hold()).toBe(first);
  await store.release("right", "a");
  expect(await hold()).toBeGreaterThan(first);
});

import { randomBytes } from "node:crypto";
import { MAX_KEPT_BYTES } from "@rockbot/edge/page-store";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import { connectRedisPageStore } from "./redis-page-store.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;
const ttl = { ttlMs: 60_000 };

test("processes of one prefix share pages, and no others see them", async () => {
  const prefix = uniquePrefix();
  await using one = await connectRedisPageStore(url, { prefix });
  await using two = await connectRedisPageStore(url, { prefix });
  await using stranger = await connectRedisPageStore(url, { prefix: uniquePrefix() });
  const page = randomBytes(MAX_KEPT_BYTES);

  expect(await one.get("a")).toBeUndefined();
  await one.set("a", page, ttl);
  expect(page.equals((await two.get("a")) ?? new Uint8Array())).toBe(true);
  expect(await stranger.get("a")).toBeUndefined();
});

test("all pages together stay within the bound, those that expire first make room, and nothing stays for ever", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisPageStore(url, { prefix, maxBytes: 1_000 });
  await store.set("soon", new Uint8Array(400), { ttlMs: 10_000 });
  await store.set("later", new Uint8Array(400), ttl);
  await store.set("later", new Uint8Array(500), ttl); // counts once
  await store.set("new", new Uint8Array(300), ttl);
  await store.set("large", new Uint8Array(1_001), ttl);

  const sizes = await Promise.all(
    ["soon", "later", "new", "large"].map(async (key) => (await store.get(key))?.byteLength),
  );
  expect(sizes).toEqual([undefined, 500, 300, undefined]);
  const redis = new Redis(url);
  try {
    const keys = await redis.keys(`${prefix}*`);
    expect(keys).toHaveLength(3);
    for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
  } finally {
    redis.disconnect();
  }
});

test("an entry that somebody made too large is not taken over", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisPageStore(url, { prefix });
  const redis = new Redis(url);
  try {
    await redis.set(`${prefix}:{pages}:page:a`, Buffer.alloc(3 * MAX_KEPT_BYTES), "PX", 10_000);
    expect(await store.get("a")).toBeUndefined();
  } finally {
    redis.disconnect();
  }
});

test("while Redis is away operations fail in words", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisPageStore(redis.url);
  await redis.kill();
  await expect(store.set("a", new Uint8Array(10), ttl)).rejects.toThrow(StoreUnavailableError);
  await expect(store.get("a")).rejects.toThrow(StoreUnavailableError);
});

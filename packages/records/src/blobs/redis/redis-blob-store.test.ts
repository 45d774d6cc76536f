import { randomBytes } from "node:crypto";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import { testBlobStore } from "../conformance.ts";
import { connectRedisBlobStore } from "./redis-blob-store.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;
const options = { owner: "someone", ttlMs: 60_000 };

testBlobStore("RedisBlobStore", (limits) => connectRedisBlobStore(url, { prefix: uniquePrefix(), ...limits }));

test("another process reads what one has written, and nothing stays for ever", async () => {
  const prefix = uniquePrefix();
  await using one = await connectRedisBlobStore(url, { prefix });
  await using two = await connectRedisBlobStore(url, { prefix });
  await one.put("name", new Uint8Array(600_000), options);
  expect((await two.get("name", 600_000)).byteLength).toBe(600_000);
  const redis = new Redis(url);
  try {
    const keys = await redis.keys(`${prefix}*`);
    expect(keys.length).toBeGreaterThan(1);
    for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
  } finally {
    redis.disconnect();
  }
});

test("while Redis is away every operation fails in words", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisBlobStore(redis.url);
  await redis.kill();
  await expect(store.put("a", new Uint8Array(10), options)).rejects.toThrow(StoreUnavailableError);
  await expect(store.get("a", 10)).rejects.toThrow(StoreUnavailableError);
  await expect(store.delete("a")).rejects.toThrow(StoreUnavailableError);
});

test("a Redis that is nearly full takes no blobs", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "20mb");
  await using store = await connectRedisBlobStore(redis.url);
  await store.put("a", new Uint8Array(8_000_000), options);
  await expect(store.put("b", new Uint8Array(8_000_000), options)).rejects.toMatchObject({
    code: "full",
    message: expect.stringContaining("Redis reserves the rest"),
  });
});

test("what nobody has fetched for a minute gives way to more of its owner", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisBlobStore(url, { prefix, maxBytesPerOwner: 100 });
  await store.put("old", new Uint8Array(60), options);
  await expect(store.put("new", new Uint8Array(60), options)).rejects.toMatchObject({ code: "full" });
  const redis = new Redis(url);
  try {
    const key = `${prefix}:{blobs}:blob:old`;
    await redis.restore(key, 60_000, await redis.dumpBuffer(key), "REPLACE", "IDLETIME", 60);
  } finally {
    redis.disconnect();
  }
  await store.put("new", new Uint8Array(60), options);
  await expect(store.get("old", 60)).rejects.toMatchObject({ code: "missing" });
});

test("blobs of one owner that come at once have no more room together than one after the other", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisBlobStore(url, { prefix, maxBytesPerOwner: 100 });
  const names = Array.from({ length: 8 }, (_, i) => `${i}`);
  const puts = await Promise.allSettled(names.map((name) => store.put(name, new Uint8Array(60), options)));
  const gets = await Promise.allSettled(names.map((name) => store.get(name, 60)));
  expect(gets.map(({ status }) => status)).toEqual(puts.map(({ status }) => status));
  expect(puts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const put of puts)
    if (put.status === "rejected") expect(put.reason).toMatchObject({ name: "BlobError", code: "full" });
});

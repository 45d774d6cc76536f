import { randomBytes } from "node:crypto";
import type { Charge } from "@rockbot/base";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { testRateStore } from "../conformance.ts";
import { connectRedisRateStore } from "./redis-rate-store.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;

testRateStore("RedisRateStore", () => connectRedisRateStore(url, { prefix: uniquePrefix() }));

const call: Charge = { key: "bucket", amount: 10, perMs: 3_600_000, cost: 1 };

test("processes that use the same Redis and prefix share a limit, whoever calls when", async () => {
  const prefix = uniquePrefix();
  await using one = await connectRedisRateStore(url, { prefix });
  await using two = await connectRedisRateStore(url, { prefix });
  const outcomes = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? one : two).take([call])));
  expect(outcomes.filter((shortage) => shortage === undefined)).toHaveLength(10);
  await using stranger = await connectRedisRateStore(url, { prefix: uniquePrefix() });
  expect(await stranger.take([call])).toBeUndefined();
});

test("a bucket in Redis ends once it is full", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisRateStore(url, { prefix });
  await store.take([call, { ...call, key: "other", perMs: 20 }]);
  const redis = new Redis(url);
  try {
    await expect.poll(() => redis.keys(`${prefix}*`)).toEqual([`${prefix}:{rates}:bucket`]);
    const ttl = await redis.pttl(`${prefix}:{rates}:bucket`);
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(360_001);
  } finally {
    redis.disconnect();
  }
});

test("while Redis is away each process counts by itself, and together again when it is back", async () => {
  await using redis = await startOwnRedis();
  await using one = await connectRedisRateStore(redis.url);
  await using two = await connectRedisRateStore(redis.url);
  const taken = async (store: typeof one) =>
    (await Promise.all(Array.from({ length: 30 }, () => store.take([call])))).filter(
      (shortage) => shortage === undefined,
    ).length;
  expect((await taken(one)) + (await taken(two))).toBe(10);
  await redis.kill();
  expect(await taken(one)).toBe(10);
  expect(await taken(two)).toBe(10);
  await redis.restart();
  const fresh: Charge = { ...call, key: "fresh", amount: 1 };
  await expect
    .poll(
      async () => {
        const key = randomBytes(6).toString("hex"); // shared as soon as both are connected
        await one.take([{ ...fresh, key }]);
        return two.take([{ ...fresh, key }]);
      },
      { timeout: 10_000 },
    )
    .toBeDefined();
});

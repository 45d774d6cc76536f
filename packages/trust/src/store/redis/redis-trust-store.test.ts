import { randomBytes } from "node:crypto";
import { StoreUnavailableError } from "@rockbot/records";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { testTrustStore } from "../test-trust-store.ts";
import { connectRedisTrustStore } from "./redis-trust-store.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;

testTrustStore("RedisTrustStore", () => connectRedisTrustStore(url, { prefix: uniquePrefix() }));

test("processes that use the same Redis and prefix see each other's records", async () => {
  const prefix = uniquePrefix();
  await using one = await connectRedisTrustStore(url, { prefix });
  await using two = await connectRedisTrustStore(url, { prefix });
  const before = await two.revision();
  await one.write("a", { n: 1 }, undefined);
  expect([(await two.read("a")).value, await two.revision()]).toEqual([{ n: 1 }, expect.not.stringContaining(before)]);
  await using stranger = await connectRedisTrustStore(url, { prefix: uniquePrefix() });
  expect(await stranger.names()).toEqual([]);
});

test("records outlive a Redis that is killed, and while it is away nobody is told anything", {
  timeout: 60_000,
}, async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisTrustStore(redis.url);
  await store.write("a", { n: 1 }, undefined);
  await redis.kill();
  await expect(store.read("a")).rejects.toThrow(StoreUnavailableError);
  await expect(store.write("a", { n: 2 }, undefined)).rejects.toThrow(StoreUnavailableError);
  await redis.restart();
  await expect
    .poll(async () => (await store.read("a").catch(() => undefined))?.value, { timeout: 30_000 })
    .toEqual({ n: 1 });
});

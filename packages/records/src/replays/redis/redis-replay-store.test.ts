import { randomBytes } from "node:crypto";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import { testReplayStore } from "../conformance.ts";
import { END_KEPT_MS } from "../replay-store.ts";
import { connectRedisReplayStore } from "./redis-replay-store.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;
const key = { caller: "someone", toolCallId: "call" };

testReplayStore("RedisReplayStore", (limits) => connectRedisReplayStore(url, { prefix: uniquePrefix(), ...limits }));

test("nothing stays for ever, and a record that has ended goes soon", async () => {
  const prefix = uniquePrefix();
  await using store = await connectRedisReplayStore(url, { prefix });
  const record = await store.open(key, "fresh");
  if (record === undefined) throw new Error("there is no record");
  await store.note(record, "1", "x", randomBytes(600_000));
  const redis = new Redis(url);
  try {
    const keys = await redis.keys(`${prefix}*`);
    expect(keys).toHaveLength(4);
    for (const name of keys) expect(await redis.pttl(name), name).toBeGreaterThan(0);
    await store.end(record);
    const ofRecord = await redis.keys(`${prefix}:{replays}:record:*`);
    expect(ofRecord).toHaveLength(2);
    for (const name of ofRecord) expect(await redis.pttl(name), name).toBeLessThanOrEqual(END_KEPT_MS);
  } finally {
    redis.disconnect();
  }
});

test("while Redis is away every operation fails in words", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisReplayStore(redis.url);
  const held = { ...key, attempt: 1 };
  await redis.kill();
  await expect(store.open(key, "fresh")).rejects.toThrow(StoreUnavailableError);
  await expect(store.note(held, "1", "x", new Uint8Array())).rejects.toThrow(StoreUnavailableError);
  await expect(store.read(key, "1")).rejects.toThrow(StoreUnavailableError);
});

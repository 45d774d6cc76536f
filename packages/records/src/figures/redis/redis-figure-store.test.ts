import { randomBytes } from "node:crypto";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import { DAY_BYTES, MAX_DAYS, ROW_BYTES } from "../figure-store.ts";
import { connectRedisFigureStore } from "./redis-figure-store.ts";

const url = await sharedRedisUrl();

function row(minute: number, ended: number) {
  const bytes = Buffer.alloc(ROW_BYTES);
  bytes.writeUInt32LE(minute, 0);
  bytes.writeUInt32LE(ended, 4);
  return { at: (minute % 1_440) * ROW_BYTES, bytes };
}

test("gateways share days, and of one minute the row stands that counts most", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using one = await connectRedisFigureStore(url, { prefix });
  await using two = await connectRedisFigureStore(url, { prefix });
  expect(await one.load()).toEqual(new Map());
  const [more, fewer, next, dayLater] = [row(3_000, 9), row(3_000, 4), row(3_001, 1), row(3_000 + 1_440, 2)];
  expect(await one.keep("web", more)).toEqual(more.bytes);
  expect(await two.keep("web", fewer)).toEqual(more.bytes);
  expect(await two.keep("web", next)).toEqual(next.bytes);
  const day = (await two.load()).get("web") ?? Buffer.alloc(0);
  expect(day.subarray(more.at, next.at + ROW_BYTES)).toEqual(Buffer.concat([more.bytes, next.bytes]));
  expect(await one.keep("web", dayLater)).toEqual(dayLater.bytes); // the minute before has had its day
});

test("days of all services stay below 16 MiB, whatever their number, and end by themselves", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using store = await connectRedisFigureStore(url, { prefix });
  const kept = await Promise.all(Array.from({ length: MAX_DAYS + 10 }, (_, n) => store.keep(`s${n}`, row(2_879, n))));
  expect(kept.filter((each) => each !== undefined).length).toBe(MAX_DAYS);
  expect((await store.load()).size).toBe(MAX_DAYS);
  const redis = new Redis(url);
  try {
    const keys = await redis.keys(`${prefix}*`);
    const sizes = await Promise.all(keys.map((key) => redis.memory("USAGE", key)));
    expect(sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)).toBeLessThan(16 * 1024 * 1024);
    expect(sizes.every((size) => (size ?? 0) < 3 * DAY_BYTES)).toBe(true);
    for (const key of keys) expect(await redis.ttl(key), key).toBeGreaterThan(86_400);
  } finally {
    redis.disconnect();
  }
  // A day later there is room for others.
  expect(await store.keep("new", row(2_879 + 2 * 1_440, 1))).toBeDefined();
});

test("while Redis is away operations fail in words", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisFigureStore(redis.url);
  await redis.kill();
  await expect(store.load()).rejects.toThrow(StoreUnavailableError);
  await expect(store.keep("web", row(1, 1))).rejects.toThrow(StoreUnavailableError);
});

import { randomBytes } from "node:crypto";
import { StoreUnavailableError } from "@rockbot/records";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { testWorkingMemory } from "../conformance.ts";
import { connectRedisWorkingMemory } from "./redis-working-memory.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;

testWorkingMemory("WorkingMemory in Redis", (limits) =>
  connectRedisWorkingMemory(url, { prefix: uniquePrefix(), limits }),
);

test("processes that use the same Redis and prefix share their memory", async () => {
  const prefix = uniquePrefix();
  await using one = await connectRedisWorkingMemory(url, { prefix });
  await using two = await connectRedisWorkingMemory(url, { prefix });
  await one.of("someone").set("session/a/x", "kept");
  expect(await two.of("someone").get("session/a/x")).toMatchObject({ value: "kept" });
});

test("nothing stays in Redis for ever, and texts that were overwritten, refused or deleted are gone", async () => {
  const prefix = uniquePrefix();
  await using memory = await connectRedisWorkingMemory(url, { prefix, limits: { maxBytes: 1_000_000 } });
  const own = memory.of("someone");
  await own.set("session/a/x", "y".repeat(600_000));
  await own.set("session/a/x", "z".repeat(600_000));
  await expect(own.set("session/a/big", "y".repeat(1_000_000))).rejects.toMatchObject({ name: "MemoryFullError" });
  await own.set("session/a/other", "y".repeat(600_000)); // what was there gives way
  await own.set("session/a/small", "x");
  await own.delete("session/a/small");
  const redis = new Redis(url);
  try {
    const keys = await redis.keys(`${prefix}*`);
    expect(keys.filter((key) => key.includes(":text:"))).toHaveLength(1);
    expect(keys.every((key) => key.startsWith(`${prefix}:{memory}:someone:`))).toBe(true);
    for (const key of keys) expect(await redis.pttl(key), key).toBeGreaterThan(0);
  } finally {
    redis.disconnect();
  }
});

test("while Redis is away every operation fails in words, and works again when it is back", async () => {
  await using redis = await startOwnRedis();
  await using memory = await connectRedisWorkingMemory(redis.url);
  const own = memory.of("someone");
  await own.set("session/a/x", "kept");
  await redis.kill();
  const operations = [
    () => own.set("session/a/y", "x"),
    () => own.setAll([{ key: "session/a/y", value: "x".repeat(1_000_000) }]),
    () => own.get("session/a/x"),
    () => own.read("session/a/x"),
    () => own.find("session/a/x", { text: "k" }),
    () => own.delete("session/a/x"),
    () => own.list("session/a/"),
    () => own.search({ prefix: "session/a/", query: "kept" }),
  ];
  for (const operation of operations) await expect(operation()).rejects.toThrow(StoreUnavailableError);
  await redis.restart();
  await expect
    .poll(
      () =>
        own.set("session/a/y", "back").then(
          () => true,
          () => false,
        ),
      { timeout: 10_000 },
    )
    .toBe(true);
  expect(await own.get("session/a/y")).toMatchObject({ value: "back" });
});

test("a Redis that does not answer is given up within a bounded time", async () => {
  await using redis = await startOwnRedis();
  await using memory = await connectRedisWorkingMemory(redis.url);
  const own = memory.of("someone");
  await own.set("session/a/x", "kept");
  await redis.pause();
  await expect(own.get("session/a/x")).rejects.toThrow(StoreUnavailableError);
  await redis.resume();
});

test("a Redis that is nearly full takes no texts, and has room left for what matters more", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "20mb");
  await using memory = await connectRedisWorkingMemory(redis.url);
  const own = memory.of("someone");
  await own.set("session/a/x", "x".repeat(3_500_000));
  await own.set("session/a/z", "z".repeat(3_500_000)); // in its place, one caller may have 3/16
  const outcomes: string[] = [];
  for (const other of ["a", "b", "c", "d", "e", "f"]) {
    const saving = memory.of(other).set("session/a/x", "x".repeat(3_500_000));
    outcomes.push(
      await saving.then(
        () => "kept",
        ({ message }) => message,
      ),
    );
  }
  expect(outcomes[0]).toBe("kept");
  expect(outcomes.at(-1)).toContain("Redis reserves the rest");
  expect(await redis.ctl("set", "claim", "kept")).toContain("OK");
  expect(await own.delete("session/a/x")).toBe(false);
  expect(await own.delete("session/a/z")).toBe(true);
  await expect
    .poll(
      () =>
        memory
          .of("d")
          .set("session/a/y", "y".repeat(3_500_000))
          .then(
            () => true,
            () => false,
          ),
      { timeout: 10_000 },
    )
    .toBe(true);
});

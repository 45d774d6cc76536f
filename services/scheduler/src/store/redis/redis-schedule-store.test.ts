import { randomBytes } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { expectOverGivesWay, testScheduleStore, testTask } from "../conformance.ts";
import { connectRedisScheduleStore } from "./index.ts";

const url = await sharedRedisUrl();
const newPrefix = () => `test-${randomBytes(6).toString("hex")}`;

testScheduleStore("the store in Redis", (clock) => connectRedisScheduleStore(url, { prefix: newPrefix(), clock }));

test("replicas share tasks, and of those that take a fire at once one does", async () => {
  const prefix = newPrefix();
  await using one = await connectRedisScheduleStore(url, { prefix });
  await using two = await connectRedisScheduleStore(url, { prefix });
  const task = testTask();
  await one.write({ key: task.key, caller: task.caller, version: undefined, task });
  const [seen] = (await two.look({ replica: "two", aliveMs: 20_000, limit: 1 })).due;
  expect(seen?.task).toEqual(task);
  const take = (store: typeof one, replica: string) =>
    store.write({
      key: task.key,
      caller: task.caller,
      version: seen?.version,
      task: { ...task, nextAt: 1, description: replica },
    });
  const outcomes = await Promise.all([take(one, "one"), take(two, "two")]);
  expect(outcomes.sort()).toEqual(["stale", "written"]);
});

test("the oldest task that is over gives way in a full store", async () => {
  await using store = await connectRedisScheduleStore(url, { prefix: newPrefix() });
  await expectOverGivesWay(store);
}, 60_000);

test("goes by the clock of Redis", async () => {
  await using store = await connectRedisScheduleStore(url, { prefix: newPrefix() });
  const before = Date.now();
  const [now, { now: seen }] = [await store.now(), await store.look({ replica: "one", aliveMs: 1_000, limit: 1 })];
  for (const at of [now, seen]) expect(Math.abs(at - before)).toBeLessThan(60_000); // the test's Redis is on this machine
});

test("while Redis is away operations fail in words, and the tasks are there when it is back", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisScheduleStore(redis.url);
  const task = testTask();
  await store.write({ key: task.key, caller: task.caller, version: undefined, task });
  await redis.kill();
  await expect(store.look({ replica: "one", aliveMs: 1_000, limit: 1 })).rejects.toThrow(StoreUnavailableError);
  await expect(store.tasksOf(task.caller)).rejects.toThrow(/^Cannot list scheduled tasks: /);
  await redis.restart();
  await expect.poll(() => store.tasksOf(task.caller).catch(() => [])).toEqual([task]);
});

test("a Redis that refuses commands is told to the log, once for each kind of refusal, as no task runs meanwhile", async () => {
  await using redis = await startOwnRedis();
  const told: object[] = [];
  const log = { ...silentLogger, warn: (fields: object, text: string) => told.push({ ...fields, text }) };
  await using store = await connectRedisScheduleStore(redis.url, { log });
  const task = testTask();
  const write = () => store.write({ key: task.key, caller: task.caller, version: undefined, task });
  const look = () => store.look({ replica: "one", aliveMs: 1_000, limit: 1 });
  await redis.ctl("config", "set", "maxmemory", "1");
  for (let i = 0; i < 3; i++) await expect(write()).rejects.toThrow(/refuses \(OOM/);
  await redis.ctl("config", "set", "maxmemory", "0");
  await redis.ctl("set", "rockbot:{schedules}:replicas", "another program's");
  for (let i = 0; i < 3; i++) await expect(look()).rejects.toThrow(/WRONGTYPE/);
  expect(told).toEqual([
    expect.objectContaining({
      text: "Redis refuses a command",
      attempt: "change a scheduled task",
      reason: expect.stringMatching("^OOM"),
    }),
    expect.objectContaining({
      text: "Redis refuses a command",
      attempt: "look for scheduled tasks",
      reason: expect.stringContaining("WRONGTYPE"),
    }),
  ]);
});

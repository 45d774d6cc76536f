import { randomBytes } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import { parseRedisAddress, RedisConnection } from "@rockbot/records/redis";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { expect, onTestFinished, test } from "vitest";
import { testBytesOfTasks, testTask, testTaskStore } from "../conformance.ts";
import type { StoredTask } from "../task-store.ts";
import { connectRedisTaskStore } from "./redis-task-store.ts";

const prefix = (): string => `test-${randomBytes(6).toString("hex")}`;

testTaskStore("Redis", async () => connectRedisTaskStore(await sharedRedisUrl(), { prefix: prefix() }));

testBytesOfTasks("Redis", async () => {
  const redis = await startOwnRedis();
  onTestFinished(() => redis[Symbol.asyncDispose]());
  await redis.ctl("config", "set", "maxmemory", "32mb"); // a sixteenth is a caller's
  return connectRedisTaskStore(redis.url);
});

test("gateways share tasks", async () => {
  const own = prefix();
  await using one = await connectRedisTaskStore(await sharedRedisUrl(), { prefix: own });
  await using two = await connectRedisTaskStore(await sharedRedisUrl(), { prefix: own });
  await one.write(testTask(), undefined);
  expect(await two.read("alice", testTask().id)).toMatchObject({ asked: "What?" });
});

test("a task of the release before, which knew one turn of each, is read and ended", async () => {
  const own = prefix();
  const url = await sharedRedisUrl();
  await using store = await connectRedisTaskStore(url, { prefix: own });
  const { asked, answer, earlier: _, turnId: __, ...note } = testTask();
  const before = new RedisConnection(parseRedisAddress(url), {
    log: silentLogger,
    purpose: "tests",
    whileAway: "nothing works",
    scripts: {},
  });
  await before.start(10_000);
  const hash = { note: JSON.stringify(note), texts: JSON.stringify({ asked, answer }) };
  await before.run("write as before", (redis) => redis.hset(`${own}:{tasks}:task:${note.id}`, hash));
  await before.close();

  const task = (await store.read("alice", note.id)) as StoredTask;
  expect(task).toEqual(testTask({ createdAt: note.createdAt, updatedAt: note.updatedAt }));
  expect(await store.write({ ...task, standing: "completed" }, task)).toBe(true);
});

test("while Redis is away operations fail in words", async () => {
  await using store = await connectRedisTaskStore("redis://127.0.0.1:1", { connectTimeoutMs: 10 });
  await expect(store.read("alice", "one")).rejects.toThrow("Cannot read a task: there is no connection");
});

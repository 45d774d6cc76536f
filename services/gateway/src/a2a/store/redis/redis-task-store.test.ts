import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { testTask, testTaskStore } from "../conformance.ts";
import { connectRedisTaskStore } from "./redis-task-store.ts";

const prefix = (): string => `test-${randomBytes(6).toString("hex")}`;

testTaskStore("Redis", async () => connectRedisTaskStore(await sharedRedisUrl(), { prefix: prefix() }));

test("gateways share tasks", async () => {
  const own = prefix();
  await using one = await connectRedisTaskStore(await sharedRedisUrl(), { prefix: own });
  await using two = await connectRedisTaskStore(await sharedRedisUrl(), { prefix: own });
  await one.write(testTask(), undefined);
  expect(await two.read("alice", testTask().id)).toMatchObject({ asked: "What?" });
});

test("while Redis is away operations fail in words", async () => {
  await using store = await connectRedisTaskStore("redis://127.0.0.1:1", { connectTimeoutMs: 10 });
  await expect(store.read("alice", "one")).rejects.toThrow("Cannot read a task: there is no connection");
});

import { randomBytes } from "node:crypto";
import { sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectRedisSummaryStore } from "./redis-summary-store.ts";

test("processes of one prefix share summaries, and no others see them", async () => {
  const url = await sharedRedisUrl();
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using one = await connectRedisSummaryStore(url, { prefix });
  await using two = await connectRedisSummaryStore(url, { prefix });
  await using stranger = await connectRedisSummaryStore(url, { prefix: `${prefix}-other` });
  expect(await one.get("hash")).toBeUndefined();
  await one.set("hash", "Sales leads.");
  expect(await two.get("hash")).toBe("Sales leads.");
  expect(await stranger.get("hash")).toBeUndefined();
});

test("while Redis is away operations fail in words", async () => {
  await using store = await connectRedisSummaryStore("redis://127.0.0.1:1", { connectTimeoutMs: 10 });
  await expect(store.get("hash")).rejects.toThrow("Cannot read a summary: there is no connection");
});

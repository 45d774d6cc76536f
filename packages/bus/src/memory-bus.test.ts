import { createEnvelope } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { QueueFullError } from "./bus-errors.ts";
import { testBus } from "./conformance/test-bus.ts";
import { createMemoryBus } from "./memory-bus.ts";

testBus("MemoryBus", async () => createMemoryBus(), { isDurable: false });

test("a memory bus refuses messages for a queue that is full", async () => {
  await using bus = createMemoryBus({ maxQueueLength: 2 });
  const subscription = await bus.subscribe({ name: "slow", topics: ["slow"] }, async () => {});
  await subscription[Symbol.asyncDispose]();
  const publish = () => bus.publish(createEnvelope({ topic: "slow", type: "t", source: "s", body: Buffer.from("x") }));
  await publish();
  await publish();
  await expect(publish()).rejects.toBeInstanceOf(QueueFullError);
});

test("a message whose time is over when its turn comes is parked, also behind one that keeps the process busy", async () => {
  await using bus = createMemoryBus();
  const handled: string[] = [];
  await using _ = await bus.subscribe({ name: "busy", topics: ["busy"] }, async ({ messageId }) => {
    handled.push(messageId);
    for (const until = performance.now() + 60; performance.now() < until; );
  });
  const publish = (messageId: string) =>
    bus.publish(
      createEnvelope({ topic: "busy", type: "t", source: "s", messageId, body: Buffer.from("x"), ttlMs: 50 }),
    );
  await Promise.all(["first", "second", "third"].map(publish));
  await expect.poll(async () => (await bus.inspect("busy", "parked"))?.messages).toBe(2);
  expect(handled).toEqual(["first"]);
});

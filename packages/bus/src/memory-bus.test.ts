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

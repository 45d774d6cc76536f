import { randomBytes } from "node:crypto";
import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope, decodeMessage, encodeMessage, type McpServersIndexed, messages } from "@rockbot/contracts";
import { connectRedisLeaseStore } from "@rockbot/records/leases/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { faulty, startTestBridge } from "../test-bridge.ts";

const url = await sharedRedisUrl();

test("of two replicas one tells the index, and when it is gone the other tells it all to whom it was told, as of a newer epoch", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using leases = await connectRedisLeaseStore(url, { prefix });
  await using bus = createMemoryBus();
  const heard: McpServersIndexed[] = [];
  await using _ = await bus.subscribe(
    { name: "agent-index", topics: ["tool.meta.mcp.asking"], kind: "copy" },
    async ({ body }) => {
      const index = decodeMessage("McpServersIndexed", body);
      if (index.ok) heard.push(index.value);
    },
  );
  const servers = () => ({ one: { ...faulty(), toolsAllowed: ["echo"] } });
  const first = await startTestBridge(servers, { bus, leases });
  await using _second = await startTestBridge(servers, { bus, leases });

  const body = encodeMessage("McpMetadataRefreshRequest", { serverName: null });
  await bus.publish(
    createEnvelope({
      topic: "tool.meta.mcp.refresh",
      type: messages.McpMetadataRefreshRequest.type,
      source: "asking",
      body,
    }),
  );
  await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(1);
  await first[Symbol.asyncDispose]();
  await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(2);
  expect(heard[1]?.servers).toEqual(heard[0]?.servers);
  expect(heard.map(({ isSnapshot }) => isSnapshot)).toEqual([true, true]);
  expect(heard[1]?.epoch).toBeGreaterThan(heard[0]?.epoch ?? Number.NaN);
});

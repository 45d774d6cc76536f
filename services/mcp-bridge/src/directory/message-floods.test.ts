import { createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { expect, test, vi } from "vitest";
import { startTestBridge } from "../test-bridge.ts";

const policy = holdPolicy(
  createPolicy(
    await readPolicy(
      "everyone: { allow: ['*'], limits: { messages: { manage: { perSecond: 1 }, refresh: { perSecond: 0.5 } } } }",
      "of the test",
    ),
  ),
);

test("what one agent asks too often about servers is refused in words, or dropped, and another is answered", async () => {
  await using running = await startTestBridge(() => ({}), { policy });
  const { bus } = running;
  const answered: string[] = [];
  const topics = ["mcp.manage.response.*", "tool.meta.mcp.flood", "tool.meta.mcp.other"];
  await using _ = await bus.subscribe({ name: "answers", topics, kind: "copy" }, async ({ topic, body }) => {
    const isRefused = Buffer.from(body).toString().includes("try again in");
    answered.push(isRefused ? `refused on ${topic}` : topic);
  });
  const ask = async (source: string): Promise<void> => {
    const details = encodeMessage("McpGetServiceDetailsRequest", { serverName: "none" });
    const { type } = messages.McpGetServiceDetailsRequest;
    await bus.publish(
      createEnvelope({
        topic: "mcp.manage",
        type,
        source,
        body: details,
        replyTo: `mcp.manage.response.${source}`,
        correlationId: newId(),
      }),
    );
    const refresh = encodeMessage("McpMetadataRefreshRequest", { serverName: null });
    await bus.publish(
      createEnvelope({
        topic: "tool.meta.mcp.refresh",
        type: messages.McpMetadataRefreshRequest.type,
        source,
        body: refresh,
      }),
    );
  };
  for (let i = 0; i < 100; i++) await ask("flood");
  await ask("other");
  await vi.waitFor(() => {
    expect(answered).toContain("mcp.manage.response.other");
    expect(answered).toContain("tool.meta.mcp.other");
  });
  const count = (topic: string): number => answered.filter((one) => one === topic).length;
  expect(count("mcp.manage.response.flood")).toBeLessThanOrEqual(13);
  expect(count("refused on mcp.manage.response.flood")).toBeGreaterThan(50);
  expect(count("tool.meta.mcp.flood")).toBeLessThanOrEqual(7);
});

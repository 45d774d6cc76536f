import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitsMs } from "../messages/envelope.ts";
import { toWire } from "../messages/wire.ts";
import { mcpCallEnvelope } from "./mcp-call-envelope.ts";
import { mcpTopics } from "./mcp-topics.ts";

test("a call of an MCP server's tool is on the wire as agents of the original send it, and is of use for as long as its caller waits", () => {
  const golden = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../golden/tool-invoke-mcp.request.json"), "utf8"),
  );
  const args = JSON.parse(golden.body.arguments) as unknown;
  const call = {
    source: "RockBot",
    replyTo: "tool.result.RockBot",
    server: "Calendar-MCP",
    tool: golden.body.toolName,
    args,
    timeoutMs: 60_000,
  };
  const envelope = mcpCallEnvelope({ topic: mcpTopics.invoke, ...call });
  const { messageId, correlationId, timestamp } = envelope;
  expect({ topic: envelope.topic, ...toWire(envelope) }).toEqual({
    topic: golden.topic,
    ...golden.properties,
    headers: golden.headers,
    messageId,
    correlationId,
    timestamp,
  });
  expect(JSON.parse(Buffer.from(envelope.body).toString())).toEqual({ ...golden.body, toolCallId: messageId });
  expect([envelope.ttlMs, waitsMs(envelope)]).toEqual([60_000, 60_000]);
});

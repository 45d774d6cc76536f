import { createEnvelope, type Envelope, encodeMessage, messages, newId, toWire } from "@rockbot/contracts";

/** The users of the demonstration, and their services. All that is not said here is as it comes. */
export const POLICY = `
identity: verified
callers:
  abusive: {}
  honest: {}
everyone: { allow: ["*"] }
services:
  echoes: { topic: tool.invoke.echoes, tools: ["echo_*", "hold_*"] }
  mcp-bridge: { topic: tool.invoke.mcp, tools: ["none__*"] }
  scripts: { topic: script.invoke, tools: ["script_*"] }
`;
export const ABUSIVE = "abusive";

/** What an agent that has a broker user of its own may publish, or may try to, as often as the broker takes it. */
export const floods = {
  invoke: () => requestOf("echo_text"),
  "invoke, 512 KiB": () => requestOf("echo_text", { text: "x".repeat(512 * 1024) }),
  "invoke, a slow tool": () => requestOf("hold_text"),
  "invoke, nobody to answer": () => requestOf("echo_text", {}, { replyTo: "somewhere.else" }),
  "invoke, over in 1 ms": () => requestOf("echo_text", {}, { ttlMs: 1 }),
  "invoke, 4 MiB": () => ({ ...requestOf("echo_text"), body: OVERSIZED }),
  script: () => requestOf("script_text", {}, { topic: "script.invoke" }),
  cancel: () =>
    envelopeOf(
      "tool.cancel.echoes",
      messages.ToolCancel.type,
      encodeMessage("ToolCancel", { toolCallId: newId(), reason: "of an id that nobody knows" }),
    ),
  manage: () =>
    envelopeOf(
      "mcp.manage",
      messages.McpGetServiceDetailsRequest.type,
      encodeMessage("McpGetServiceDetailsRequest", { serverName: "none" }),
      {
        replyTo: `mcp.manage.response.${ABUSIVE}`,
      },
    ),
  refresh: () =>
    envelopeOf(
      "tool.meta.mcp.refresh",
      messages.McpMetadataRefreshRequest.type,
      encodeMessage("McpMetadataRefreshRequest", { serverName: null }),
    ),
  probe: () =>
    envelopeOf(
      "tool.announce.probe",
      messages.ToolAnnounceProbe.type,
      encodeMessage("ToolAnnounceProbe", { service: null }),
    ),
  progress: () =>
    envelopeOf(
      "tool.progress.honest",
      messages.ToolProgress.type,
      encodeMessage("ToolProgress", {
        toolCallId: newId(),
        toolName: "echo_text",
        sequence: 0,
        progress: 1,
        total: null,
        message: null,
      }),
    ),
} as const satisfies Record<string, () => Envelope>;
export type FloodName = keyof typeof floods;

const OVERSIZED = Buffer.alloc(4 * 1024 * 1024, "x");

function requestOf(toolName: string, args: object = { text: "x" }, more: Partial<Envelope> = {}): Envelope {
  const toolCallId = newId();
  const body = encodeMessage("ToolInvokeRequest", {
    toolCallId,
    toolName,
    arguments: JSON.stringify(args),
    sessionId: null,
  });
  return envelopeOf("tool.invoke.echoes", messages.ToolInvokeRequest.type, body, {
    correlationId: toolCallId,
    replyTo: `tool.result.${ABUSIVE}`,
    ttlMs: 60_000,
    ...more,
  });
}

const envelopeOf = (topic: string, type: string, body: Uint8Array, more: Partial<Envelope> = {}): Envelope =>
  createEnvelope({ topic, type, source: ABUSIVE, body, ...more });

/**
 * Tells whether each instance has a copy of it, from a classic queue of its own; else the instances of a service share
 * a quorum queue.
 */
export const isForCopies = ({ topic }: Envelope): boolean => !/\binvoke\b|^mcp\.manage/.test(topic);

/** The same for amqplib. */
export function publication(envelope: Envelope, user: string) {
  const { topic, body, ttlMs } = envelope;
  const lasts = ttlMs === undefined ? {} : { expiration: ttlMs };
  return {
    routingKey: topic,
    body: Buffer.from(body),
    properties: { ...toWire(envelope), userId: user, persistent: true, ...lasts },
  };
}

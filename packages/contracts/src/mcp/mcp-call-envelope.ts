import { messages } from "../generated/messages.ts";
import { encodeMessage } from "../messages/decode.ts";
import { createEnvelope, type Envelope, Header, newId } from "../messages/envelope.ts";

/** One call of a tool on an MCP server, as it goes over the bus. */
export interface McpCall {
  /** The bridge's topic for an agent's call; between replicas that of the replica with the server. */
  readonly topic: string;
  readonly source: string;
  /** @default the source's own */
  readonly onBehalfOf?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly server: string;
  /** The tool by its own name, without the server's. */
  readonly tool: string;
  readonly args: unknown;
  readonly timeoutMs: number;
  /** @default false */
  readonly hasReadUntrusted?: boolean | undefined;
}

/**
 * A call of a tool of an MCP server, which is named beside it, as agents of the .NET original send it. Its message's id
 * is its `toolCallId` and its correlation, too, and new.
 */
export function mcpCallEnvelope({
  topic,
  source,
  onBehalfOf,
  replyTo,
  server,
  tool,
  args,
  timeoutMs,
  hasReadUntrusted = false,
}: McpCall): Envelope {
  const toolCallId = newId();
  return createEnvelope({
    topic,
    type: messages.ToolInvokeRequest.type,
    source,
    replyTo,
    messageId: toolCallId,
    correlationId: toolCallId,
    ttlMs: timeoutMs,
    headers: {
      [Header.ContentTrust]: "tool-request",
      [Header.ToolProvider]: "mcp",
      [Header.TimeoutMs]: String(timeoutMs),
      [Header.McpServer]: server.toLowerCase(),
      ...(onBehalfOf === undefined ? {} : { [Header.OnBehalfOf]: onBehalfOf }),
      ...(hasReadUntrusted ? { [Header.Untrusted]: "true" } : {}),
    },
    body: encodeMessage("ToolInvokeRequest", {
      toolCallId,
      toolName: tool,
      arguments: JSON.stringify(args),
      sessionId: null,
    }),
  });
}

import { headerBytesBeyond, MAX_HEADER_BYTES } from "@rockbot/bus";
import { decodeMessage, type Envelope, Header, messages, ToolError, ToolErrorCode, type ToolInvokeRequest } from "@rockbot/contracts";
import type { Sender, Stranger } from "./identity.ts";
import { DEFAULT_TIMEOUT_MS, MAX_REQUEST_BYTES, MAX_TIMEOUT_MS } from "./limits.ts";

const REQUEST_TYPE = messages.ToolInvokeRequest.type;
/** The trace's headers come on top of what a sender may send: `tracestate` has 512 bytes at most. */
const MAX_RECEIVED_HEADER_BYTES = MAX_HEADER_BYTES + 1024;
/** The reply topic of a request that names none, as in the original. */
const DEFAULT_REPLY_TOPIC = "tool.result";

/** Where an answer goes. */
export interface Address {
  readonly topic: string;
  readonly correlationId: string | undefined;
  readonly destination: string | undefined;
}

/** Undefined if the request names a topic that no answer to its sender may go to, or its sender is unknown. */
export function addressOf({ replyTo = DEFAULT_REPLY_TOPIC, correlationId, source }: Envelope, { mayHear }: Sender | Stranger): Address | undefined {
  return mayHear?.(replyTo) ? { topic: replyTo, correlationId, destination: source } : undefined;
}

/** The call that a message asks for, or why it asks for none. */
export function readRequest(message: Envelope): ToolInvokeRequest | ToolError {
  if (message.body.byteLength > MAX_REQUEST_BYTES) {
    return new ToolError(ToolErrorCode.TooLarge, `The request has ${message.body.byteLength} bytes; at most ${MAX_REQUEST_BYTES} are taken`);
  }
  const bytes = headerBytesBeyond(MAX_RECEIVED_HEADER_BYTES, message.headers);
  if (bytes !== undefined) {
    return new ToolError(ToolErrorCode.TooLarge, `The request's headers have ${bytes} bytes; at most ${MAX_HEADER_BYTES} are taken`);
  }
  if (message.type !== REQUEST_TYPE && message.type.toLowerCase() !== REQUEST_TYPE.toLowerCase()) {
    return new ToolError(ToolErrorCode.InvalidArguments, `Expected a message of type ${REQUEST_TYPE}, got ${JSON.stringify(message.type.slice(0, 80))}`);
  }
  const decoded = decodeMessage("ToolInvokeRequest", message.body);
  if (decoded.ok) return decoded.value;
  return new ToolError(ToolErrorCode.InvalidArguments, decoded.fault.message, { details: { reason: decoded.fault.reason, faults: decoded.fault.faults } });
}

/** Ids for the answer to a request that cannot be read: what its body says as far as that can be used, else its correlation. */
export function guessCall(message: Envelope): { toolCallId: string; toolName: string } {
  const fallback = { toolCallId: (message.correlationId ?? message.messageId).slice(0, 128), toolName: "unknown" };
  if (message.body.byteLength > MAX_REQUEST_BYTES) return fallback;
  const decoded = decodeMessage("ToolInvokeRequest", message.body);
  const { toolCallId, toolName } = (decoded.ok ? decoded.value : (decoded.fault.value ?? {})) as Record<string, unknown>;
  return {
    toolCallId: isText(toolCallId, 128) ? toolCallId : fallback.toolCallId,
    toolName: isText(toolName, 256) ? toolName : fallback.toolName,
  };
}

const isText = (value: unknown, maxLength: number): value is string => typeof value === "string" && value.length > 0 && value.length <= maxLength;

/** How many calls, each made by a tool, led to this one, as its header says. */
export function depthOf(message: Envelope): number {
  const header = message.headers[Header.Depth];
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : 0;
}

/** How long the caller waits, as its header says, within what a call may take. */
export function budgetMs(message: Envelope): number {
  const header = message.headers[Header.TimeoutMs];
  return header !== undefined && /^[1-9]\d{0,9}$/.test(header) ? Math.min(Number(header), MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
}

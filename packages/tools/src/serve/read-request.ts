import { headerBytesBeyond, MAX_HEADER_BYTES } from "@rockbot/bus";
import {
  type Envelope,
  Header,
  MAX_REQUEST_BYTES,
  parseJson,
  ToolError,
  ToolErrorCode,
  waitsMs,
} from "@rockbot/contracts";
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from "../limits.ts";
import { isCapability } from "../messages/claim-check.ts";
import { callerOf, type Sender, type Stranger } from "../messages/identity.ts";
import { formOf, isOfForm, type RequestedCall, type RequestForm } from "../messages/request-form.ts";

/** The trace's headers come on top of what a sender may send: `tracestate` has 512 bytes at most. */
const MAX_RECEIVED_HEADER_BYTES = MAX_HEADER_BYTES + 1024;

/** Where an answer goes. */
export interface Address {
  readonly topic: string;
  readonly correlationId: string | undefined;
  /** Whose it is. */
  readonly caller: string;
  /** The capability under which a large answer may be left in the blob store. */
  readonly blob?: string | undefined;
  /** True if an answer may be carried in the bus's memory alone, as the request was. @default false */
  readonly isTransient?: boolean | undefined;
}

/** Undefined if the request names a topic that no answer to its sender may go to, or its sender is unknown. */
export function addressOf(
  message: Envelope,
  sender: Sender | Stranger,
  { replyTopic }: RequestForm,
  isTransient = false,
): Address | undefined {
  const { replyTo = replyTopic, correlationId } = message;
  return sender.mayHear?.(replyTo)
    ? { topic: replyTo, correlationId, caller: callerOf(message, sender), blob: capabilityOf(message), isTransient }
    : undefined;
}

function capabilityOf({ headers }: Envelope): string | undefined {
  const capability = headers[Header.AcceptBlob];
  return isCapability(capability) ? capability : undefined;
}

/** The call that a message asks for in one of the forms, or in that of all services; or why it asks for none. */
export function readCall(message: Envelope, forms: readonly RequestForm[]): RequestedCall | ToolError {
  return readRequest(message, formOf(message, forms));
}

/** The call that a message asks for in this form, or why it asks for none. */
export function readRequest(message: Envelope, form: RequestForm): RequestedCall | ToolError {
  if (message.body.byteLength > MAX_REQUEST_BYTES) {
    return new ToolError(
      ToolErrorCode.TooLarge,
      `The request has ${message.body.byteLength} bytes; at most ${MAX_REQUEST_BYTES} are taken`,
    );
  }
  const bytes = headerBytesBeyond(MAX_RECEIVED_HEADER_BYTES, message.headers);
  if (bytes !== undefined) {
    return new ToolError(
      ToolErrorCode.TooLarge,
      `The request's headers have ${bytes} bytes; at most ${MAX_HEADER_BYTES} are taken`,
    );
  }
  if (!isOfForm(message.type, form)) {
    return new ToolError(
      ToolErrorCode.InvalidArguments,
      `Expected a message of type ${form.type}, got ${JSON.stringify(message.type.slice(0, 80))}`,
    );
  }
  return form.read(message.body);
}

/**
 * Ids for the answer to a request that cannot be read: what its body says as far as that can be used, else its
 * correlation.
 */
export function guessCall(message: Envelope): { toolCallId: string; toolName: string } {
  const fallback = { toolCallId: (message.correlationId ?? message.messageId).slice(0, 128), toolName: "unknown" };
  if (message.body.byteLength > MAX_REQUEST_BYTES) return fallback;
  const { toolCallId, toolName } = membersOf(message.body);
  return {
    toolCallId: isText(toolCallId, 128) ? toolCallId : fallback.toolCallId,
    toolName: isText(toolName, 256) ? toolName : fallback.toolName,
  };
}

function membersOf(body: Uint8Array): Record<string, unknown> {
  const parsed = parseJson(Buffer.from(body).toString());
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null
    ? (parsed.value as Record<string, unknown>)
    : {};
}

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= maxLength;

/** How many calls, each made by a tool, led to this one, as its header says. */
export function depthOf(message: Envelope): number {
  const header = message.headers[Header.Depth];
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : 0;
}

/**
 * The earliest moment at which a service may have taken the call, on the clock of `performance.now()`, if its sender
 * says that it has sent it before. The message may have waited for as long as its time to live since then.
 */
export function sentSince(
  { headers, ttlMs = Number.POSITIVE_INFINITY }: Pick<Envelope, "headers" | "ttlMs">,
  receivedAt: number,
): number | undefined {
  const age = headers[Header.AgeMs];
  if (age === undefined) return undefined;
  return receivedAt - ttlMs - (/^\d{1,12}$/.test(age) ? Number(age) : Number.POSITIVE_INFINITY);
}

/** How long the caller waits, as it says or by default, within what a call may take. */
export const budgetMs = (message: Envelope, byForm: number | undefined): number =>
  Math.min(waitsMs(message, byForm) ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);

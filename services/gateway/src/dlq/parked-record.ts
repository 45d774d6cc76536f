import type { ParkedMessage, ParkingReason } from "@rockbot/bus";
import { ToolError, waitsMs } from "@rockbot/contracts";
import { type RequestForm, readCall } from "@rockbot/tools";

/** A parked message as operators see it. Texts of strangers are still in it as they wrote them: see printable. */
export interface ParkedRecord {
  readonly service: string;
  /** The message's id on the bus; for our own callers also the toolCallId. */
  readonly id: string;
  readonly topic: string;
  readonly type: string;
  readonly source: string;
  readonly reason: ParkingReason;
  readonly why?: string | undefined;
  /** ISO 8601, as is `sentAt`. */
  readonly parkedAt?: string | undefined;
  readonly sentAt?: string | undefined;
  /** If the message is a tool call that can be read. */
  readonly toolName?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly timeoutMs?: string | undefined;
  /** Names only: values may be secrets of the sender. */
  readonly headers: readonly string[];
  readonly bytes: number;
  /** The beginning of the body as text, at most as many bytes as were asked for. */
  readonly body: string;
}

export function parkedRecord(
  service: string,
  { message, reason, why, parkedAt, sentAt }: ParkedMessage,
  { maxBodyBytes, forms }: { readonly maxBodyBytes: number; readonly forms: readonly RequestForm[] },
): ParkedRecord {
  const { messageId: id, topic, type, source, correlationId, replyTo, headers, body } = message;
  const call = readCall(message, forms);
  const { toolName, toolCallId } = call instanceof ToolError ? {} : call.request;
  return {
    service,
    id,
    topic,
    type,
    source,
    reason,
    why,
    parkedAt: iso(parkedAt),
    sentAt: iso(sentAt),
    toolName,
    toolCallId,
    correlationId,
    replyTo,
    timeoutMs: waitsMs(message)?.toString(),
    headers: Object.keys(headers).slice(0, 32),
    bytes: body.byteLength,
    body: Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxBodyBytes)).toString("utf8"),
  };
}

/** Undefined for what is no time that a date can hold. */
function iso(ms: number | undefined): string | undefined {
  const date = new Date(ms ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

import type { Death, ParkedMessage, ParkingReason } from "@rockbot/bus";
import { type Envelope, fromWire, readTtlMs } from "@rockbot/contracts";
import { mainNames, queueName } from "../queue-plan.ts";
import type { MessageProperties } from "../wire/frames.ts";
import type { IncomingMessage } from "../wire/read-frames.ts";

/**
 * Our own notes on a message that has died. Not `rb-`: they are no headers of the envelope, and a message that is
 * played again must not carry them.
 */
const Note = {
  Reason: "x-rockbot-death-reason",
  Message: "x-rockbot-death-message",
  /** The dead-letter exchange routes by queue name, so the topic is noted. */
  Topic: "x-rockbot-topic",
  Queue: "x-rockbot-queue",
  /** Under its own name the broker would heed it again. */
  TtlMs: "x-rockbot-ttl-ms",
  /** The sender as the broker verified it: nobody can publish in another's name, not even to park a message. */
  User: "x-rockbot-user",
  DiedAt: "x-rockbot-died-at",
} as const;

const MAX_TEXT = 1_000;

/** Fetched or delivered. */
type Readable = Pick<IncomingMessage, "properties" | "content"> & {
  readonly fields: Pick<IncomingMessage["fields"], "routingKey">;
};

/** A message on one of a service's dead-letter queues. */
export interface DeadLetter {
  /** As it was published first. */
  readonly envelope: Envelope;
  /** Why it is here, as far as that is known. */
  readonly death: Death;
  /** Nobody took it while it was of use. */
  readonly isExpired: boolean;
}

/**
 * Reads a message that has come to the retry queue, the dlq or the parked ones of the service whose main queues, of all
 * versions, are `mains`, or back there.
 */
export function readDeadLetter({ fields, properties, content }: Readable, mains: readonly string[]): DeadLetter {
  const headers: Record<string, unknown> = properties.headers ?? {};
  const first = deathsOf(headers).find((death) => mains.includes(String(death["queue"])));
  const keys = first?.["routing-keys"];
  const sentTo = Array.isArray(keys) ? text(keys[0]) : undefined;
  if (first === undefined || (sentTo !== undefined && mains.includes(sentTo))) {
    // We took it off the main queue ourselves, and may have put it back there. A message that the broker moves from
    // there says so, and what key it was sent with. Only with a topic as its key may a sender have written our notes.
    const envelope = fromWire(text(headers[Note.Topic]) ?? fields.routingKey, properties, content);
    const reason = text(headers[Note.Reason]);
    const message = text(headers[Note.Message]);
    const death: Death = {
      reason: reason === "rejected" || reason === "failed" ? reason : "crashed",
      ...(message === undefined ? {} : { message }),
    };
    return {
      envelope: { ...envelope, ttlMs: readTtlMs(headers[Note.TtlMs]), userId: text(headers[Note.User]) },
      death,
      isExpired: (first?.["reason"] ?? reason) === "expired",
    };
  }
  const topic = sentTo ?? fields.routingKey;
  const ttlMs = readTtlMs(first["original-expiration"]);
  return {
    envelope: { ...fromWire(topic, properties, content), ttlMs },
    death: { reason: "crashed" },
    isExpired: first["reason"] === "expired",
  };
}

/** Reads a message of a service that is kept for an operator. */
export function readParked(message: Readable, service: string): ParkedMessage {
  const { envelope, death, isExpired } = readDeadLetter(message, mainNames(service));
  const headers: Record<string, unknown> = message.properties.headers ?? {};
  const noted = Date.parse(text(headers[Note.DiedAt]) ?? "");
  const [last] = deathsOf(headers);
  const parkedAt = Number.isNaN(noted) ? secondsOf(last?.["time"]) : noted;
  const parkedBy = last?.["queue"] === queueName(service, "dlq") ? undefined : text(message.properties.userId);
  const { timestamp } = message.properties;
  const sentAt = timestamp === undefined ? undefined : timestamp * 1000;
  return {
    message: envelope,
    reason: isExpired ? "expired" : death.reason,
    why: death.message,
    parkedBy,
    parkedAt,
    sentAt,
  };
}

/**
 * The properties under which a dead message goes on, to the dlq, to the parked ones, or back.
 * @param diedAt in milliseconds since the epoch
 */
export function deadLetterProperties(
  message: Pick<IncomingMessage, "properties">,
  { topic, messageId, ttlMs, userId }: Envelope,
  queue: string,
  reason: ParkingReason,
  why?: string,
  diedAt = Date.now(),
): MessageProperties {
  const { headers, contentType, contentEncoding, correlationId, replyTo, timestamp, type } = message.properties;
  const kept = Object.entries(headers ?? {}).filter(
    ([name, value]) => name.startsWith("rb-") && typeof value === "string",
  );
  return {
    ...defined({
      contentType,
      contentEncoding,
      correlationId,
      replyTo,
      messageId,
      timestamp: Number.isSafeInteger(timestamp) ? timestamp : undefined,
      type,
    }),
    deliveryMode: 2,
    headers: {
      ...Object.fromEntries(kept),
      ...defined({ [Note.Message]: why?.slice(0, MAX_TEXT), [Note.TtlMs]: ttlMs?.toString(), [Note.User]: userId }),
      [Note.Reason]: reason,
      [Note.Topic]: topic,
      [Note.Queue]: queue,
      [Note.DiedAt]: new Date(diedAt).toISOString(),
    },
  };
}

/** The notes of the broker on a message, one for each death, the last one first. */
export const deathsOf = (headers: Record<string, unknown> | undefined): Record<string, unknown>[] =>
  Array.isArray(headers?.["x-death"]) ? (headers["x-death"] as unknown[]).filter(isTable) : [];

/** AMQP times are whole seconds, in a table of their own. */
function secondsOf(time: unknown): number | undefined {
  const seconds = isTable(time) ? time["value"] : time;
  return typeof seconds === "number" ? seconds * 1000 : undefined;
}

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

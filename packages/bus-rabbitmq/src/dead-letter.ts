import type { Death } from "@rockbot/bus";
import { type Envelope, fromWire } from "@rockbot/contracts";
import type { ConsumeMessage, Options } from "amqplib";

/** Why a message is kept for an operator. */
export type ParkingReason = Death["reason"] | "expired";

/**
 * Our own notes on a message that has died. Not `rb-`: they are no headers of the envelope, and a message that is played
 * again must not carry them.
 */
const Note = {
  Reason: "x-rockbot-death-reason",
  Message: "x-rockbot-death-message",
  /** The dead-letter exchange routes by queue name, so the topic is noted. */
  Topic: "x-rockbot-topic",
  Queue: "x-rockbot-queue",
  /** The sender as the broker verified it: nobody can publish in another's name, not even to park a message. */
  User: "x-rockbot-user",
  DiedAt: "x-rockbot-died-at",
} as const;

const MAX_TEXT = 1_000;

/** A message on one of a service's dead-letter queues. */
export interface DeadLetter {
  /** As it was published first. */
  readonly envelope: Envelope;
  /** Why it is here, as far as it can be told. */
  readonly death: Death;
  /** Nobody took it while it was of use. */
  readonly isExpired: boolean;
}

/** Reads a message that has come to the retry queue or the dlq of the service whose main queue is `queue`. */
export function readDeadLetter({ fields, properties, content }: ConsumeMessage, queue: string): DeadLetter {
  const headers: Record<string, unknown> = properties.headers ?? {};
  const deaths = Array.isArray(headers["x-death"]) ? (headers["x-death"] as unknown[]).filter(isTable) : undefined;
  if (deaths === undefined) {
    // We put it here ourselves: what the broker moves carries its list of deaths, and only then may a sender have written our notes.
    const envelope = fromWire(text(headers[Note.Topic]) ?? fields.routingKey, properties, content);
    const reason = text(headers[Note.Reason]);
    const message = text(headers[Note.Message]);
    const death: Death = { reason: reason === "rejected" || reason === "failed" ? reason : "crashed", ...(message === undefined ? {} : { message }) };
    return { envelope: { ...envelope, userId: text(headers[Note.User]) }, death, isExpired: reason === "expired" };
  }
  const first = deaths.find((death) => death["queue"] === queue);
  const keys = first?.["routing-keys"];
  const topic = (Array.isArray(keys) ? text(keys[0]) : undefined) ?? fields.routingKey;
  return { envelope: fromWire(topic, properties, content), death: { reason: "crashed" }, isExpired: first?.["reason"] === "expired" };
}

/** The properties under which a dead message goes on, to the dlq or to the parked ones. */
export function deadLetterProperties(
  message: ConsumeMessage,
  { topic, userId }: Envelope,
  queue: string,
  reason: ParkingReason,
  why?: string,
): Options.Publish {
  const { headers, contentType, contentEncoding, correlationId, replyTo, messageId, timestamp, type } = message.properties;
  const kept = Object.entries(headers ?? {}).filter(([name, value]) => name.startsWith("rb-") && typeof value === "string");
  return {
    ...defined({ contentType, contentEncoding, correlationId, replyTo, messageId, timestamp, type }),
    deliveryMode: 2,
    headers: {
      ...Object.fromEntries(kept),
      ...defined({ [Note.Message]: why?.slice(0, MAX_TEXT), [Note.User]: userId }),
      [Note.Reason]: reason,
      [Note.Topic]: topic,
      [Note.Queue]: queue,
      [Note.DiedAt]: new Date().toISOString(),
    },
  };
}

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

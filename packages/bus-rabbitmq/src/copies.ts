import { readTtlMs } from "@rockbot/contracts";
import type { MessageProperties } from "./wire/frames.ts";
import type { IncomingMessage } from "./wire/read-frames.ts";

/** On a message that was sent before and never confirmed: how long before, at most, in milliseconds. The broker may have both. */
const COPY_OF = "x-rockbot-sent-before-ms";
/** What lies in a socket that nobody reads is older than its time to live; the broker gives such a connection up in less than this. */
const TRANSIT_MS = 30_000;

/** The properties under which a message is sent once more. */
export const asCopy = (properties: MessageProperties, sentBeforeMs: number): MessageProperties => ({
  ...properties,
  headers: { ...properties.headers, [COPY_OF]: String(Math.ceil(sentBeforeMs)) },
});

/**
 * The earliest moment at which somebody may have been handed the message, or a copy of it; undefined if there was nobody. The broker hands
 * out nothing whose time to live is over, and what it takes back keeps its time; of a message without one nothing is known.
 */
export function maybeHandledSince({ fields, properties }: Pick<IncomingMessage, "fields" | "properties">, receivedAt: number): number | undefined {
  const note: unknown = properties.headers?.[COPY_OF];
  if (!fields.redelivered && note === undefined) return undefined;
  const sentBeforeMs = note === undefined ? 0 : (readTtlMs(note) ?? Number.POSITIVE_INFINITY);
  return receivedAt - (readTtlMs(properties.expiration) ?? Number.POSITIVE_INFINITY) - sentBeforeMs - TRANSIT_MS;
}

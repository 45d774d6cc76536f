import { readTtlMs } from "@rockbot/contracts";
import type { MessageProperties } from "./wire/frames.ts";
import type { IncomingMessage } from "./wire/read-frames.ts";

/**
 * On a message that was sent before and never confirmed: how long before, at most, in milliseconds. The broker may have
 * both.
 */
const COPY_OF = "x-rockbot-sent-before-ms";
/**
 * Bytes in a socket that nobody reads are older than their time to live; the broker gives such a connection up in less
 * than this.
 */
const TRANSIT_MS = 30_000;

/** The properties under which a message is sent once more. */
export const asCopy = (properties: MessageProperties, sentBeforeMs: number): MessageProperties => ({
  ...properties,
  headers: { ...properties.headers, [COPY_OF]: String(Math.ceil(sentBeforeMs)) },
});

/**
 * The earliest moment at which a consumer may have got the message, or a copy of it; undefined if there was none. The
 * broker hands out no message whose time to live is over, and a message that it takes back keeps its time. Without a
 * time to live, the moment is unknown, and counts as infinitely early.
 */
export function maybeHandledSince(
  { fields, properties }: Pick<IncomingMessage, "fields" | "properties">,
  receivedAt: number,
): number | undefined {
  const note: unknown = properties.headers?.[COPY_OF];
  if (!fields.redelivered && note === undefined) return undefined;
  const sentBeforeMs = note === undefined ? 0 : (readTtlMs(note) ?? Number.POSITIVE_INFINITY);
  return receivedAt - (readTtlMs(properties.expiration) ?? Number.POSITIVE_INFINITY) - sentBeforeMs - TRANSIT_MS;
}

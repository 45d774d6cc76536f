import { type Envelope, Header, newId } from "./envelope.ts";

/** An envelope's AMQP properties and header table, besides routing key and body. */
export interface WireProperties {
  readonly messageId?: unknown;
  readonly type?: unknown;
  readonly correlationId?: unknown;
  readonly replyTo?: unknown;
  readonly timestamp?: unknown;
  readonly expiration?: unknown;
  readonly contentType?: unknown;
  readonly deliveryMode?: unknown;
  readonly userId?: unknown;
  readonly headers?: unknown;
}

/**
 * The properties of an envelope on the wire. The header K is written as `rb-K`, so that `rb-timeout-ms` becomes
 * `rb-rb-timeout-ms`. The .NET original prefixes every key, and its own keys have the prefix already. A missing
 * correlation or reply topic is an empty string, as the original writes it. The time to live is not among them: what is
 * left of it is known when the message is sent.
 */
export function toWire(envelope: Envelope) {
  const headers: Record<string, string> = { "rb-source": envelope.source };
  if (envelope.destination !== undefined) headers["rb-destination"] = envelope.destination;
  for (const key in envelope.headers) headers[wireName(key)] = envelope.headers[key] as string;
  return {
    messageId: envelope.messageId,
    type: envelope.type,
    correlationId: envelope.correlationId ?? "",
    replyTo: envelope.replyTo ?? "",
    timestamp: envelope.timestamp,
    contentType: "application/json",
    deliveryMode: 2,
    headers,
  };
}

/**
 * Reads what came off the wire. Total: what is missing or of the wrong type gets the original's default, a header that
 * is not text is ignored. A known header with a single prefix (`rb-timeout-ms`) is understood too.
 */
export function fromWire(topic: string, properties: WireProperties, body: Uint8Array): Envelope {
  const headers = new HeaderTable();
  let source = "unknown";
  let destination: string | undefined;
  if (typeof properties.headers === "object" && properties.headers !== null) {
    const table = properties.headers as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(table)) {
      const value = table[key];
      if (!key.startsWith("rb-") || typeof value !== "string") continue;
      const logical = logicalNames.get(key) ?? key.slice(3);
      if (logical === "source") source = value;
      else if (logical === "destination") destination = value;
      else if (singlePrefixed.has(key)) headers[key] ??= value;
      else headers[logical] = value;
    }
  }
  return {
    topic,
    messageId: text(properties.messageId) ?? newId(),
    type: text(properties.type) ?? "unknown",
    source,
    destination,
    body,
    correlationId: text(properties.correlationId),
    replyTo: text(properties.replyTo),
    timestamp:
      typeof properties.timestamp === "number" && properties.timestamp > 0
        ? properties.timestamp
        : Math.floor(Date.now() / 1000),
    ttlMs: readTtlMs(properties.expiration),
    headers,
    userId: text(properties.userId),
  };
}

/**
 * Inherits nothing, so that a stranger's header is no method. V8 keeps `Object.create(null)` as a hash table, which is
 * slow to fill and to read.
 */
class HeaderTable {
  [name: string]: string;
}
Reflect.deleteProperty(HeaderTable.prototype, "constructor");
Object.setPrototypeOf(HeaderTable.prototype, null);

/**
 * The headers that messages have, on the wire: their names are not put together and taken apart again for each message.
 */
const wireNames: ReadonlyMap<string, string> = new Map(
  ["source", "destination", "traceparent", "tracestate", ...Object.values(Header)].map((key) => [key, `rb-${key}`]),
);
const logicalNames: ReadonlyMap<string, string> = new Map([...wireNames].map(([key, name]) => [name, key]));

const wireName = (key: string): string => wireNames.get(key) ?? `rb-${key}`;

/** Logical keys of ours and of the original. */
const singlePrefixed: ReadonlySet<string> = new Set([...Object.values(Header), "rb-mcp-server"]);

/** Milliseconds as decimal text, as the broker demands. */
export const readTtlMs = (expiration: unknown): number | undefined =>
  typeof expiration === "string" && /^\d{1,10}$/.test(expiration) ? Number(expiration) : undefined;

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

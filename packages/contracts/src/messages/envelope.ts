import { randomFillSync } from "node:crypto";

/** A message on the bus, whatever carries it. */
export interface Envelope {
  /** Routing key: dot-separated words, at most 255 bytes. */
  readonly topic: string;
  /** 32 hex digits when minted here. */
  readonly messageId: string;
  /** The payload's name on the wire: `messages[…].type`. */
  readonly type: string;
  /** The sender, as the message says. Not verified: see `userId`. */
  readonly source: string;
  /** The payload, UTF-8 JSON. */
  readonly body: Uint8Array;
  readonly correlationId?: string | undefined;
  /** The topic for answers. */
  readonly replyTo?: string | undefined;
  readonly destination?: string | undefined;
  /** Unix time in whole seconds. */
  readonly timestamp: number;
  /**
   * How long the message is of use from when it goes out, in milliseconds; for ever if absent. Not taken by then, it is
   * never delivered: a service's is parked as `expired`. One that was taken in time and failed has its second try at
   * any time. A request is of use for as long as its sender waits.
   */
  readonly ttlMs?: number | undefined;
  /** The headers by logical key, such as `rb-timeout-ms` or `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The sender as the broker verified it; absent on a bus that verifies nobody. */
  readonly userId?: string | undefined;
}

/** Logical header keys. On the wire each is prefixed once more: see wire.ts. */
export const Header = {
  /**
   * How long the caller waits from publishing, in milliseconds, as decimal text, where its time to live does not say
   * it: see waitsMs.
   */
  TimeoutMs: "rb-timeout-ms",
  ContentTrust: "rb-content-trust",
  ToolProvider: "rb-tool-provider",
  /** The MCP server that a request of `tool.invoke.mcp` is for. Without it the server is found by the tool's name. */
  McpServer: "rb-mcp-server",
  /** How many calls, each made by a tool, led to this one, as decimal text; none if absent. */
  Depth: "rb-depth",
  /**
   * On an answer: the revision of the policy that decided the call. On an announcement: of the one that its sender goes
   * by.
   */
  Policy: "rb-policy",
  /**
   * Present on a request if the caller wants progress. On an answer: how many updates went before it, as decimal text;
   * none if absent.
   */
  Progress: "rb-progress",
  /** On an announcement: the hash of the list that it is a page of. */
  ListHash: "rb-list-hash",
  /** The effective caller, where one calls for another. Believed of delegates only. */
  OnBehalfOf: "rb-on-behalf-of",
  /** The operator who makes the call as its caller. Believed of delegates only. */
  Operator: "rb-operator",
  /**
   * On a request: the capability under which a large answer may be left in the blob store; see claim-check.ts in
   * packages/tools.
   */
  AcceptBlob: "rb-accept-blob",
  /**
   * The header of a request has the keys of the files that its arguments name: `{handle}={key}`, with commas between. The
   * holder of a file's key can read this file of this caller.
   */
  Files: "rb-files",
  /** On an answer: the hash and the length of what was left there, `{sha256}:{bytes}`. */
  Blob: "rb-blob",
  /** On an answer: how the call went at the service; see served-steps.ts. */
  Steps: "rb-steps",
  /**
   * On a request that its sender has sent before, and has no answer to: how long ago it did so first, in milliseconds,
   * as decimal text.
   */
  AgeMs: "rb-age-ms",
  /** `true` on a request if untrusted content led to it, see hasReadUntrusted. */
  Untrusted: "rb-untrusted",
  /**
   * On a request: what bounds whatever the call leaves behind to run later, in the form of the agent that writes and
   * reads it.
   */
  Grant: "rb-grant",
  /** On the answer to a request of the fast lane: `durable` if it is none, and the request is to come the durable way. */
  Lane: "rb-lane",
  /** On a request: what becomes of the call when its caller does not wait for it any more. See Keep. */
  Keep: "rb-keep",
  /** On a request: says `caller` if a person behind the caller answers the tool's questions, each of which ends it in `pending`. */
  Asks: "rb-asks",
} as const;

/**
 * Values of the header `rb-keep`. `if-parked`: a call that waits for a person goes on waiting when its caller has left.
 * `told`: the same, and its caller gets `pending` as soon as it waits. `detached`: the call runs without its caller, which
 * gets `pending` at once. The same id gets its end later.
 */
export const Keep = { IfParked: "if-parked", Told: "told", Detached: "detached" } as const;
export type Keep = (typeof Keep)[keyof typeof Keep];

/** The fields that a sender has to give; `createEnvelope` fills in the rest. */
export type NewEnvelope = Pick<Envelope, "topic" | "type" | "source" | "body"> & Partial<Envelope>;

/**
 * An envelope with a fresh id and the current time, unless given. All have the same properties in the same order, which
 * makes them cheap to read and copy.
 */
export function createEnvelope(fields: NewEnvelope): Envelope {
  const {
    topic,
    messageId = newId(),
    type,
    source,
    body,
    correlationId,
    replyTo,
    destination,
    timestamp,
    ttlMs,
    headers = {},
    userId,
  } = fields;
  return {
    topic,
    messageId,
    type,
    source,
    destination,
    body,
    correlationId,
    replyTo,
    timestamp: timestamp ?? Math.floor(Date.now() / 1000),
    ttlMs,
    headers,
    userId,
  };
}

/**
 * How long the sender of a request waits from publishing, in milliseconds, if it says so. The header says it, else the
 * form of the request, else the time to live.
 */
export function waitsMs({ headers, ttlMs }: Envelope, byForm?: number): number | undefined {
  const header = headers[Header.TimeoutMs];
  return header !== undefined && /^[1-9]\d{0,9}$/.test(header) ? Number(header) : (byForm ?? ttlMs);
}

/**
 * True if untrusted content led to a request: its sender had read some, or was called by one that had. The mark
 * restricts only, so any text but `false` counts as one.
 */
export function hasReadUntrusted({ headers }: Pick<Envelope, "headers">): boolean {
  const mark = headers[Header.Untrusted];
  return mark !== undefined && mark !== "false";
}

/** 128 random bits as 32 lower-case hex digits: the form of message ids and of the toolCallIds that we mint. */
export function newId(): string {
  if (poolAt === pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += ID_BYTES;
  return pool.toString("hex", poolAt - ID_BYTES, poolAt);
}

const ID_BYTES = 16;
/**
 * Random bytes are cheap by the kilobyte and dear by the call: two ids a tool call were a tenth of its cost in memory.
 */
const pool = Buffer.alloc(256 * ID_BYTES);
let poolAt = pool.length;

import { type Attributes, type Counter, metrics } from "@opentelemetry/api";
import { Buckets, type Charge, RecentMap } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { createPolicy, defaultPolicySource, type MessageKind, type PolicyHolder } from "@rockbot/policy";

/**
 * Options of subscriptions that meter each message before all else. A message above the bound passes quickly, however
 * long round trips take. Other messages wait for nothing.
 */
export const METERED = { concurrency: 512, prefetch: 512 } as const;

export interface MessageMeterOptions {
  /** @default what holds without a policy */
  readonly policy?: Pick<PolicyHolder, "current"> | undefined;
  readonly log: Logger;
  /** Milliseconds that never step back. @default the process's monotonic clock */
  readonly clock?: (() => number) | undefined;
}

/**
 * Bounds beyond the policy for messages that cost others: so many of a caller in a second, and ten times as many at
 * once.
 */
const EXTRAS = {
  /** Answers to requests that are too many. */
  refusal: 20,
  /** Requests that nobody can be answered about: each is kept for an operator. */
  unanswerable: 1,
} as const;
type Extra = keyof typeof EXTRAS;

/** Unused room is saved for this long. */
const SAVED_MS = 10_000;
/** The most callers that are known at once. A bus that verifies nobody has as many as somebody makes up. */
const MAX_CALLERS = 10_000;
/** A caller's drops are logged this far apart, and those of all callers together. */
const LOG_EVERY_MS = 60_000;
const LOGS_A_MINUTE: Charge = { key: "all", amount: 60, perMs: LOG_EVERY_MS, cost: 1 };

/**
 * Bounds the messages that a process takes from each caller, in number and in bytes, before it reads them. A message
 * above the bound costs a look at a table, a counter, and now and then a line in the log. The meter counts for this
 * process alone. It keeps off floods, and these must not cost a question to a store.
 */
export class MessageMeter {
  readonly #policy: Pick<PolicyHolder, "current">;
  readonly #log: Logger;
  readonly #buckets: Buckets;
  readonly #loggable: Buckets;
  /** The drops since the last line in the log. */
  readonly #dropped = new RecentMap<string, { count: number }>(MAX_CALLERS);
  #counter: Counter<Attributes> | undefined;

  constructor({ policy = { current: () => defaultPolicy }, log, clock }: MessageMeterOptions) {
    this.#policy = policy;
    this.#log = log;
    this.#buckets = new Buckets({ clock, maxBuckets: 4 * MAX_CALLERS });
    this.#loggable = new Buckets({ clock, maxBuckets: MAX_CALLERS });
  }

  /** Counts a message. @returns undefined if it is to be taken; else when there is room for more, in milliseconds */
  take(kind: MessageKind, caller: string, bytes: number): number | undefined {
    const { perSecond, bytesPerSecond } = this.#policy.current().messagesOf(caller)[kind];
    const savedBytes = bytesPerSecond * (SAVED_MS / 1_000);
    const key = `${kind} ${caller}`;
    return this.#buckets.take([
      chargeOf(key, perSecond, 1),
      { key: `${key} bytes`, amount: savedBytes, perMs: SAVED_MS, cost: Math.min(bytes, savedBytes) }, // more than it holds would never be taken
    ])?.retryAfterMs;
  }

  /** Counts one more of these for the caller, and tells whether it may pass. */
  takeExtra(kind: Extra, caller: string): boolean {
    return this.#buckets.take([chargeOf(`${kind} ${caller}`, EXTRAS[kind], 1)]) === undefined;
  }

  /** The same as `take` for who drops what is too many. @returns whether the message is to be taken */
  admits(kind: MessageKind, caller: string, bytes: number): boolean {
    const isTaken = this.take(kind, caller, bytes) === undefined;
    if (!isTaken) this.drop(kind, caller);
    return isTaken;
  }

  /** Counts a message that is dropped. */
  drop(kind: MessageKind | Extra, caller: string): void {
    // Made when first needed: what is made before telemetry starts records nothing for ever.
    this.#counter ??= metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.messages.dropped", {
      description: "Messages dropped unread, or unanswered, as their caller has sent too many, by kind.",
    });
    this.#counter.add(1, { kind });
    const key = `${kind} ${caller}`;
    const dropped = this.#dropped.get(key) ?? { count: 0 };
    if (dropped.count++ === 0) this.#dropped.set(key, dropped);
    const own: Charge = { key, amount: 1, perMs: LOG_EVERY_MS, cost: 1 };
    if (this.#loggable.take([own, LOGS_A_MINUTE]) !== undefined) return;
    this.#log.warn(
      { kind, caller: caller.slice(0, 80), dropped: dropped.count },
      "dropped messages of a caller above its limit",
    );
    dropped.count = 0;
  }
}

const defaultPolicy = createPolicy(defaultPolicySource());

const chargeOf = (key: string, perSecond: number, cost: number): Charge => {
  const amount = Math.max(1, perSecond * (SAVED_MS / 1_000));
  return { key, amount, perMs: (amount / perSecond) * 1_000, cost };
};

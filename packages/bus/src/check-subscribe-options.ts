import { DEFAULT_CONCURRENCY, DEFAULT_DRAIN_MS, type SubscribeOptions, type SubscriptionKind } from "./bus.ts";

/** SubscribeOptions with every default filled in. */
export interface CheckedSubscribeOptions extends SubscribeOptions {
  readonly kind: SubscriptionKind;
  readonly concurrency: number;
  readonly prefetch: number;
  readonly drainMs: number;
  readonly isFurther: boolean;
}

/** Room for a role and the names of an agent and its instance. */
const MAX_NAME = 100;
/** AMQP has 16 bits for it. */
const MAX_PREFETCH = 65_535;

/** @throws {RangeError} naming the option that is out of range */
export function checkSubscribeOptions(options: SubscribeOptions): CheckedSubscribeOptions {
  const {
    name,
    topics,
    kind = "service",
    concurrency = DEFAULT_CONCURRENCY,
    drainMs = DEFAULT_DRAIN_MS,
    isFurther = false,
    onDeadLetter,
    isToBlame,
    prefersOldest,
    onBusClosed,
    lane,
    onReconnected,
  } = options;
  const { prefetch = 2 * concurrency } = options;
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(name) || name.length > MAX_NAME) {
    throw new RangeError(
      `Cannot subscribe as ${JSON.stringify(name.slice(0, 100))}: a name is 1 to ${MAX_NAME} of a-z, 0-9 and "-" in words separated by dots`,
    );
  }
  if (topics.length === 0 || topics.some((topic) => topic === "" || Buffer.byteLength(topic) > 255)) {
    throw new RangeError(`Cannot subscribe as "${name}": expected at least one topic, each of 1 to 255 bytes`);
  }
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new RangeError(
      `Cannot subscribe as "${name}": concurrency must be a whole number from 1 to 10000, got ${concurrency}`,
    );
  }
  if (!Number.isInteger(prefetch) || prefetch < concurrency || prefetch > MAX_PREFETCH) {
    throw new RangeError(
      `Cannot subscribe as "${name}": prefetch must be a whole number from its concurrency, ${concurrency}, to ${MAX_PREFETCH}, got ${prefetch}`,
    );
  }
  if (isFurther && kind !== "service")
    throw new RangeError(
      `Cannot subscribe as "${name}" once more: of the kind "${kind}" each subscription is a first one`,
    );
  if (lane !== undefined && kind !== "service")
    throw new RangeError(
      `Cannot subscribe as "${name}" to the fast lane: only the kind "service" has one, not "${kind}"`,
    );
  return {
    name,
    topics,
    kind,
    concurrency,
    prefetch,
    drainMs,
    isFurther,
    ...(onDeadLetter === undefined ? {} : { onDeadLetter }),
    ...(isToBlame === undefined ? {} : { isToBlame }),
    ...(prefersOldest === undefined ? {} : { prefersOldest }),
    ...(onBusClosed === undefined ? {} : { onBusClosed }),
    ...(lane === undefined ? {} : { lane }),
    ...(onReconnected === undefined ? {} : { onReconnected }),
  };
}

import { Buckets } from "@rockbot/base";

/** The saved part of an allowance comes back in this time. */
const PER_MS = 8_000;
/** The bytes that an asker may have at once. Agents of one name may start together, each of which needs a list. */
const OF_ONE = 32 * 1024 * 1024;
/** The same for all askers together: where nobody verifies names, one may have many. */
const OF_ALL = 128 * 1024 * 1024;
/** The cost of an answer beside its bytes: a question costs, too. */
const BASE_BYTES = 64 * 1024;
const MAX_ASKERS = 1_000;

/**
 * Bounds the answers of a service's instance to callers that ask for its tools. So a caller that asks all the time
 * costs it, the bus and others little.
 */
export class AnswerAllowance {
  readonly #buckets: Buckets;

  constructor(clock?: () => number) {
    this.#buckets = new Buckets({ clock, maxBuckets: MAX_ASKERS });
  }

  /** Counts an answer of so many bytes to the asker, and tells whether it may go out. */
  take(asker: string, bytes: number): boolean {
    const cost = Math.min(bytes + BASE_BYTES, OF_ONE);
    return (
      this.#buckets.take([
        { key: `of ${asker}`, amount: OF_ONE, perMs: PER_MS, cost },
        { key: "all", amount: OF_ALL, perMs: PER_MS, cost },
      ]) === undefined
    );
  }
}

import { OldestFirstMap } from "../collections/oldest-first-map.ts";

/**
 * An amount that is taken from one bucket at once. A bucket holds at most `amount`, and fills evenly by `amount` in
 * `perMs`. So callers take at most twice the amount in any such time, and the amount on average.
 */
export interface Charge {
  /** Which bucket. At most a few hundred bytes. */
  readonly key: string;
  readonly amount: number;
  readonly perMs: number;
  readonly cost: number;
}

/** A bucket that lacks what was to be taken. */
export interface Shortage {
  /** Which of the charges it was: where several buckets lack it, the one that lacks it longest. */
  readonly index: number;
  /** When there will be enough in it if nobody else takes any, in milliseconds, at least 1. */
  readonly retryAfterMs: number;
}

/** Settings of a set of buckets. */
export interface BucketsOptions {
  /** Milliseconds that never step back. @default the process's monotonic clock */
  readonly clock?: (() => number) | undefined;
  /**
   * Buckets that are remembered; beyond, the one that nobody has used for longest is forgotten, and full.
   * @default 100_000
   */
  readonly maxBuckets?: number | undefined;
}

/** Buckets of this process, which are full at first. */
export class Buckets {
  readonly #clock: () => number;
  readonly #maxBuckets: number;
  /** When each is full again, in the order of use. */
  readonly #fullAt = new OldestFirstMap<string, number>();

  constructor({ clock = () => performance.now(), maxBuckets = 100_000 }: BucketsOptions = {}) {
    this.#clock = clock;
    this.#maxBuckets = maxBuckets;
  }

  /**
   * Takes the cost of each charge from its bucket; if one of them lacks it, nothing from any. A cost above the amount
   * is never there.
   */
  take(charges: readonly Charge[]): Shortage | undefined {
    const now = this.#clock();
    let shortage: Shortage | undefined;
    const after = charges.map((charge, index) => {
      const time = fullAfter(charge, this.#fullAt.get(charge.key) ?? now, now);
      const retryAfterMs = debtMs(charge, time, now);
      if (retryAfterMs > (shortage?.retryAfterMs ?? 0)) shortage = { index, retryAfterMs };
      return time;
    });
    if (shortage === undefined) for (const [i, { key }] of charges.entries()) this.#keep(key, after[i] as number);
    return shortage;
  }

  /**
   * Takes the cost although the bucket may lack it: what it owes then, at most its amount, has to fill up first. A cost
   * below zero is given back.
   */
  charge(charge: Charge): void {
    const now = this.#clock();
    this.#keep(
      charge.key,
      Math.min(fullAfter(charge, this.#fullAt.get(charge.key) ?? now, now), now + 2 * charge.perMs),
    );
  }

  clear(): void {
    this.#fullAt.clear();
  }

  #keep(key: string, time: number): void {
    this.#fullAt.set(key, time);
    const { oldest } = this.#fullAt;
    if (this.#fullAt.size > this.#maxBuckets && oldest !== undefined) this.#fullAt.delete(oldest.key);
  }
}

/**
 * When a bucket that was full at `fullAt` is full again once the cost is taken. A bucket is this one time: what is
 * missing in it is what fills in the time that is left.
 * @see "Generic cell rate algorithm", ITU-T I.371, annex A
 */
function fullAfter({ amount, perMs, cost }: Charge, fullAt: number, now: number): number {
  return Math.max(now, Math.max(fullAt, now) + (cost / amount) * perMs);
}

/**
 * How long, in whole milliseconds, until a bucket that would be full at `fullAt` owes nothing; 0 if it owes nothing
 * now.
 */
function debtMs({ perMs }: Charge, fullAt: number, now: number): number {
  const owed = fullAt - now - perMs;
  return owed > ROUNDING_MS ? Math.ceil(owed) : 0;
}

/** The error that sums of fractions may have. */
const ROUNDING_MS = 0.001;

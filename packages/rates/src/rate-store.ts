/**
 * What one call takes from one bucket. A bucket holds at most `amount`, and fills at an even pace, `amount` in `perMs`: so
 * at most twice the amount is taken in any such time, and the amount in each on average.
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

/** Remembers what callers have used up. */
export interface RateStore extends AsyncDisposable {
  /** Takes the cost of each charge from its bucket; if one of them lacks it, nothing from any. A cost above the amount is never there. */
  take(charges: readonly Charge[]): Promise<Shortage | undefined>;
  /**
   * Takes the cost from the bucket although it may lack it: what it owes then, at most its amount, has to fill up first. A cost below
   * zero is given back: no more than was taken makes a bucket full.
   */
  charge(charge: Charge): Promise<void>;
}

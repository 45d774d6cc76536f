import type { Charge, Shortage } from "@rockbot/base";

/** Remembers what callers have used up. */
export interface RateStore extends AsyncDisposable {
  /**
   * Takes the cost of each charge from its bucket; if one of them lacks it, nothing from any. A cost above the amount
   * is never there.
   */
  take(charges: readonly Charge[]): Promise<Shortage | undefined>;
  /**
   * Takes the cost from the bucket although it may lack it: what it owes then, at most its amount, has to fill up
   * first. A cost below zero is given back: no more than was taken makes a bucket full.
   */
  charge(charge: Charge): Promise<void>;
}

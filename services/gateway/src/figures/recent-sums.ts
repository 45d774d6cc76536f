import { CallSum } from "./call-sum.ts";

/** Calls that ended lately, by periods, of which the oldest are forgotten. */
export class RecentSums {
  readonly #periodMs: number;
  readonly #periods: number;
  readonly #sums = new Map<number, CallSum>();

  constructor(periodMs: number, periods: number) {
    this.#periodMs = periodMs;
    this.#periods = periods;
  }

  /** Adds to the period of now. */
  add(now: number, counts: CallSum["counts"]): void {
    const period = Math.floor(now / this.#periodMs);
    const sum = this.#sums.get(period) ?? new CallSum();
    if (!this.#sums.has(period)) this.#sums.set(period, sum);
    sum.add(counts);
    this.#forget(period);
  }

  /** The sum of all periods that are remembered, the present one among them. */
  total(now: number): CallSum {
    this.#forget(Math.floor(now / this.#periodMs));
    const total = new CallSum();
    for (const sum of this.#sums.values()) total.add(sum.counts);
    return total;
  }

  #forget(period: number): void {
    for (const known of this.#sums.keys()) if (known <= period - this.#periods) this.#sums.delete(known);
  }
}

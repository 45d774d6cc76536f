/**
 * How many sandboxes were wanted at once lately: the peak of the current period and of the one before. What is wanted once is so
 * remembered for one to two periods.
 */
export class Demand {
  #current = 0;
  #previous = 0;

  note(count: number): void {
    this.#current = Math.max(this.#current, count);
  }

  get peak(): number {
    return Math.max(this.#current, this.#previous);
  }

  /** Begins the next period, in which `count` are wanted already. */
  nextPeriod(count: number): void {
    this.#previous = this.#current;
    this.#current = count;
  }
}

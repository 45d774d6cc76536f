/** The most single requests that are remembered. */
const MAX_RECENT = 1_000;

/**
 * How many sandboxes were wanted at once lately, or one after another before a new one could be there: the peak of the
 * current period and of the one before. What is wanted once is so remembered for one to two periods.
 */
export class Demand {
  #current = 0;
  #previous = 0;
  /** When those were wanted that a new one would not have come in time for, oldest first. */
  #recent: number[] = [];

  /**
   * Notes that one more is wanted.
   * @param count with all others that are wanted now
   * @param now and `makingMs`, how long one takes to make, in milliseconds
   */
  note(count: number, { now, makingMs }: { readonly now: number; readonly makingMs: number }): void {
    this.#recent = [...this.#recent.filter((at) => at > now - makingMs), now].slice(-MAX_RECENT);
    this.#current = Math.max(this.#current, count, this.#recent.length);
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

/** A number of places for running work; what finds none waits in order. */
export class Slots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** What waits for a place. */
  get waiting(): number {
    return this.#waiting.size;
  }

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Calls `start` now, or as soon as a place is free. Who has been started gives the place back by `leave`.
   * @returns takes it out of the queue again; has no effect once it has started
   */
  enter(start: () => void): () => void {
    if (this.#free > 0) {
      this.#free--;
      start();
      return () => {};
    }
    this.#waiting.add(start);
    return () => void this.#waiting.delete(start);
  }

  leave(): void {
    if (this.#waiting.size === 0) {
      this.#free++;
      return;
    }
    const next = this.#waiting.values().next().value as () => void;
    this.#waiting.delete(next);
    next();
  }
}

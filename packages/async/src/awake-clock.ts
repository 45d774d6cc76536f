interface Wait {
  readonly dueAt: number;
  readonly onOver: () => void;
}

/** How often it is looked whether a wait is over: none ends later by more than this and what keeps the event loop busy. */
const STEP_MS = 50;
/** A step that took longer was spent asleep. */
const MAX_STEP_MS = 2 * STEP_MS;

/**
 * Judges the silence of others: a clock that stands still while this process does. Time in which the process did not run (its event
 * loop was busy, it had no processor time, it was stopped, its machine slept) is nobody's silence. It runs only while somebody waits.
 */
export class AwakeClock {
  readonly #waits = new Set<Wait>();
  #ticking: NodeJS.Timeout | undefined;
  #awakeMs = 0;
  #tickedAt = 0;

  /** In milliseconds, comparable with itself only. */
  get now(): number {
    return this.#ticking === undefined ? this.#awakeMs : this.#awakeMs + Math.min(performance.now() - this.#tickedAt, MAX_STEP_MS);
  }

  /**
   * Calls `onOver` once `ms` milliseconds of this clock are over and what had come by then has been read; it must not throw.
   * @returns calls it off
   */
  after(ms: number, onOver: () => void): () => void {
    if (this.#ticking === undefined) {
      this.#tickedAt = performance.now();
      this.#ticking = setInterval(() => this.#tick(), STEP_MS);
    }
    const wait: Wait = { dueAt: this.now + ms, onOver };
    this.#waits.add(wait);
    return () => {
      if (this.#waits.delete(wait)) this.#restIfIdle();
    };
  }

  #tick(): void {
    const now = performance.now();
    this.#awakeMs += Math.min(now - this.#tickedAt, MAX_STEP_MS);
    this.#tickedAt = now;
    for (const { dueAt } of this.#waits) {
      if (dueAt > this.#awakeMs) continue;
      setImmediate(() => this.#endWaits()); // timers run before sockets are read, immediates after
      return;
    }
  }

  #endWaits(): void {
    for (const wait of [...this.#waits]) {
      if (wait.dueAt > this.#awakeMs || !this.#waits.delete(wait)) continue;
      wait.onOver();
    }
    this.#restIfIdle();
  }

  #restIfIdle(): void {
    if (this.#waits.size > 0) return;
    this.#awakeMs = this.now;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }
}

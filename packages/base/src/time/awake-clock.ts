interface Wait {
  readonly dueAt: number;
  readonly onOver: () => void;
}

/**
 * The least time between two looks; else that is a quarter of the time left of the nearest wait. So no wait ends later
 * by more than this and the work that keeps the event loop busy.
 */
const MIN_STEP_MS = 50;
/** And at most this, so that an idle process sleeps while little is lost of the time that it cannot tell from sleep. */
const MAX_STEP_MS = 500;
/** The time that a timer may be late. A step that took longer was spent asleep. */
const LATE_MS = 50;

/**
 * A clock that stands still while this process does, to judge the silence of others. A process stands still while its
 * event loop is busy, it gets no processor time, it is stopped, or its machine sleeps. Such time is not the silence of
 * another process. The clock runs only while somebody waits.
 */
export class AwakeClock {
  readonly #waits = new Set<Wait>();
  #ticking: NodeJS.Timeout | undefined;
  #stepMs = MIN_STEP_MS;
  #awakeMs = 0;
  #tickedAt = 0;

  /** The time in milliseconds, comparable with itself only. */
  get now(): number {
    return this.#ticking === undefined
      ? this.#awakeMs
      : this.#awakeMs + Math.min(performance.now() - this.#tickedAt, this.#stepMs + LATE_MS);
  }

  /**
   * Calls `onOver` once `ms` milliseconds of this clock are over and what had come by then has been read; it must not
   * throw.
   * @returns calls it off
   */
  after(ms: number, onOver: () => void): () => void {
    const { now } = this;
    const wait: Wait = { dueAt: now + ms, onOver };
    this.#waits.add(wait);
    if (this.#ticking === undefined || now + stepFor(ms) < this.#awakeMs + this.#stepMs) this.#step();
    return () => {
      if (this.#waits.delete(wait)) this.#restIfIdle();
    };
  }

  /** Waits until it is to be looked again whether a wait is over. */
  #step(): void {
    this.#awakeMs = this.now;
    this.#tickedAt = performance.now();
    let nearest = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#waits) nearest = Math.min(nearest, dueAt);
    this.#stepMs = stepFor(nearest - this.#awakeMs);
    clearTimeout(this.#ticking);
    this.#ticking = setTimeout(() => this.#tick(), this.#stepMs);
  }

  #tick(): void {
    this.#step();
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
    clearTimeout(this.#ticking);
    this.#ticking = undefined;
  }
}

/**
 * A part of a wait only: a process that sleeps through a step takes no more than that, and LATE_MS, for time of the
 * wait.
 */
const stepFor = (ms: number): number => Math.min(MAX_STEP_MS, Math.max(MIN_STEP_MS, ms / 4));

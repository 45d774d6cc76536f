import { LinkedList } from "../collections/linked-list.ts";

/** Nothing is due earlier than asked for, nor later by more than this and what keeps the event loop busy. */
const STEP_MS = 20;

type Step = LinkedList<() => void>;

/**
 * Many deadlines that hardly ever pass. A timer for each would start and stop with every message. Here one timer waits
 * for the earliest deadline, even if that is called off meanwhile. So it rings once in a deadline's time, however many
 * come and go, and an idle process sleeps. It keeps the process alive while there is any deadline.
 */
export class Deadlines {
  /** By the number of the step at whose end they are due. */
  readonly #steps = new Map<number, Step>();
  #timer: NodeJS.Timeout | undefined;
  /** The step for whose end the timer waits. */
  #next = Number.POSITIVE_INFINITY;

  /** Calls `onDue` in `ms` milliseconds, at most 20 days; it must not throw. @returns calls it off */
  after(ms: number, onDue: () => void): () => void {
    const step = Math.ceil((performance.now() + ms) / STEP_MS);
    const due: Step = this.#steps.get(step) ?? new LinkedList();
    if (due.isEmpty) {
      if (this.#steps.size === 0) this.#timer?.ref();
      this.#steps.set(step, due);
    }
    if (step < this.#next) this.#waitFor(step);
    const entry = due.add(onDue);
    return () => {
      entry.remove();
      if (!due.isEmpty || this.#steps.get(step) !== due) return;
      this.#steps.delete(step);
      if (this.#steps.size === 0) this.#timer?.unref();
    };
  }

  #waitFor(step: number): void {
    clearTimeout(this.#timer);
    this.#next = step;
    // Timers run before sockets are read, immediates after: what has come in time counts.
    this.#timer = setTimeout(() => setImmediate(() => this.#ring()), Math.max(1, step * STEP_MS - performance.now()));
  }

  #ring(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = Number.POSITIVE_INFINITY;
    const now = Math.floor(performance.now() / STEP_MS); // a timer may ring a little early: then nothing is due yet
    const passed = [...this.#steps.keys()].filter((step) => step <= now).sort((a, b) => a - b);
    for (const step of passed) {
      for (const onDue of this.#steps.get(step)?.drain() ?? []) onDue();
      this.#steps.delete(step);
    }
    let next = Number.POSITIVE_INFINITY;
    for (const step of this.#steps.keys()) next = Math.min(next, step);
    if (next < this.#next) this.#waitFor(next);
  }
}

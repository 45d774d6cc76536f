import { LinkedList } from "./linked-list.ts";

/** Nothing is due earlier than asked for, nor later by more than this and what keeps the event loop busy. */
const STEP_MS = 20;

type Step = LinkedList<() => void>;

/**
 * Many deadlines that are hardly ever reached. A timer for each would be started and stopped with every message; here one
 * ticks while there are any.
 */
export class Deadlines {
  /** By the number of the step at whose end they are due. */
  readonly #steps = new Map<number, Step>();
  #ticking: NodeJS.Timeout | undefined;
  /** The last step that was gone through. */
  #passed = 0;

  /** Calls `onDue` in `ms` milliseconds; it must not throw. @returns calls it off */
  after(ms: number, onDue: () => void): () => void {
    const now = performance.now();
    if (this.#ticking === undefined) {
      this.#passed = Math.floor(now / STEP_MS);
      this.#ticking = setInterval(() => this.#tick(), STEP_MS);
    }
    const step = Math.max(Math.ceil((now + ms) / STEP_MS), this.#passed + 1);
    const due: Step = this.#steps.get(step) ?? new LinkedList();
    if (due.isEmpty) this.#steps.set(step, due);
    const entry = due.add(onDue);
    return () => {
      entry.remove();
      if (due.isEmpty && this.#steps.get(step) === due) this.#steps.delete(step);
    };
  }

  #tick(): void {
    if (this.#steps.size === 0) this.#rest();
    else setImmediate(() => this.#goThrough()); // timers run before sockets are read, immediates after: what has come in time counts
  }

  #goThrough(): void {
    const now = Math.floor(performance.now() / STEP_MS);
    while (this.#passed < now && this.#steps.size > 0) {
      const due = this.#steps.get(++this.#passed);
      if (due === undefined) continue;
      for (const onDue of due.drain()) onDue();
      this.#steps.delete(this.#passed);
    }
    this.#passed = now;
    if (this.#steps.size === 0) this.#rest();
  }

  #rest(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }
}

import { LinkedList, type ListEntry } from "@rockbot/base";

/** A number of places for running work; what finds none waits in order. */
export class Slots {
  readonly #queue = new LinkedList<() => void>();
  #free: number;

  /** The starts that wait for a place. */
  get waiting(): number {
    return [...this.#queue].length;
  }

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a place, if one is free. Its holder gives it back by `leave`. */
  tryEnter(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /**
   * Calls `start` as soon as a place is free, which is taken then. It is for callers that got no place by `tryEnter`.
   */
  enterLater(start: () => void): ListEntry {
    return this.#queue.add(start);
  }

  leave(): void {
    const next = this.#queue.takeOldest();
    if (next === undefined) this.#free++;
    else next();
  }
}

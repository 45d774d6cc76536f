interface Waiter {
  readonly caller: string | undefined;
  readonly giveWay: () => void;
}

/**
 * A bounded number of requests that wait for their clients. Without room, a newcomer takes the place that harms least.
 * It is the oldest request of the caller with the most, whose client has had the longest time. So a slow caller takes
 * places from itself.
 */
export class WaitingRoom {
  readonly #maxWaiting: number;
  /** The requests that wait, by caller, the oldest first. */
  readonly #waiting = new Map<string | undefined, Set<Waiter>>();
  #size = 0;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Takes a place; there always is one.
   * @param giveWay is called once if another needs the place, which is free by then
   * @returns what gives it up
   */
  enter(caller: string | undefined, giveWay: () => void): () => void {
    const waiter: Waiter = { caller, giveWay };
    const own = this.#waiting.get(caller) ?? new Set();
    this.#waiting.set(caller, own.add(waiter));
    this.#size++;
    if (this.#size > this.#maxWaiting) this.#makeRoom();
    return () => void this.#leave(waiter);
  }

  #makeRoom(): void {
    let most: Set<Waiter> | undefined;
    for (const waiters of this.#waiting.values()) if (waiters.size > (most?.size ?? 0)) most = waiters;
    const [oldest] = most ?? [];
    if (oldest !== undefined && this.#leave(oldest)) oldest.giveWay();
  }

  /** Takes the waiter away, and tells whether it was still there. */
  #leave(waiter: Waiter): boolean {
    const own = this.#waiting.get(waiter.caller);
    if (own === undefined || !own.delete(waiter)) return false;
    if (own.size === 0) this.#waiting.delete(waiter.caller);
    this.#size--;
    return true;
  }
}

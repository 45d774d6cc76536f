/** Lets a bounded number of tasks run at once; others wait. */
export interface Semaphore {
  /**
   * Waits for a permit; they are given in the order of asking. Disposing of it hands it to the next, once.
   * @throws the signal's reason once it aborts; then no permit is held
   */
  acquire(signal?: AbortSignal): Promise<Disposable>;
}

/**
 * Bounds how much runs at once: `count` permits.
 * @throws {RangeError} if `count` is not a positive integer
 */
export function createSemaphore(count: number): Semaphore {
  if (!Number.isInteger(count) || count < 1)
    throw new RangeError(`Cannot create a semaphore: count must be a positive integer, got ${count}`);
  let free = count;
  // A Set keeps the order, and one that gives up leaves it at no cost to the others.
  const waiting = new Set<() => void>();

  /** A permit that is passed on never counts as free in between, so that nobody who comes later overtakes. */
  function permit(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        const [next] = waiting;
        if (next === undefined) free++;
        else next();
      },
    };
  }

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      if (free > 0) {
        free--;
        return permit();
      }
      const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
      const leave = (): void => {
        waiting.delete(grant);
        signal?.removeEventListener("abort", giveUp);
      };
      const grant = (): void => {
        leave();
        resolve(permit());
      };
      const giveUp = (): void => {
        leave();
        reject(signal?.reason);
      };
      waiting.add(grant);
      signal?.addEventListener("abort", giveUp, { once: true });
      return await promise;
    },
  };
}

import { createFairQueue } from "./create-fair-queue.ts";

/** Lets a bounded number of tasks run at once; others wait. */
export interface Semaphore {
  /**
   * Waits for a place; they are given in the order of asking. Disposing of it hands it to the next, once.
   * @throws the signal's reason once it aborts; then no place is held
   */
  acquire(signal?: AbortSignal): Promise<Disposable>;
}

/**
 * Bounds how much runs at once: `count` places.
 * @throws {RangeError} if `count` is not a positive integer
 */
export function createSemaphore(count: number): Semaphore {
  if (!Number.isInteger(count) || count < 1)
    throw new RangeError(`Cannot create a semaphore: count must be a positive integer, got ${count}`);
  const queue = createFairQueue();
  return { acquire: (signal) => queue.enter("", { concurrency: count, signal }) };
}

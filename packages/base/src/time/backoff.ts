/** Settings of the wait between two attempts. */
export interface BackoffOptions {
  /** The wait doubles from here, in milliseconds. @default 100 */
  readonly baseMs?: number | undefined;
  /** Upper bound of every wait, in milliseconds. @default 2_000 */
  readonly maxMs?: number | undefined;
  /**
   * How much of the bound is waited in any case: 0 spreads waits the most, 0.5 makes fewer attempts within the same
   * time.
   * @default 0
   */
  readonly leastPart?: number | undefined;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
}

/**
 * The wait after `failures` failed attempts: exponential, with jitter, so that clients do not come back in step.
 * @returns milliseconds, uniform in [leastPart * bound, bound) where the bound is min(maxMs, baseMs * 2^failures)
 * @throws {RangeError} if `failures` is not a positive integer
 * @see Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015
 */
export function backoffMs(
  failures: number,
  { baseMs = 100, maxMs = 2_000, leastPart = 0, random = Math.random }: BackoffOptions = {},
): number {
  if (!Number.isInteger(failures) || failures < 1) {
    throw new RangeError(`Cannot compute a wait: failures must be a positive integer, got ${failures}`);
  }
  return (leastPart + (1 - leastPart) * random()) * Math.min(maxMs, baseMs * 2 ** failures);
}

export interface BackoffOptions {
  /** The wait doubles from here, in milliseconds. @default 100 */
  readonly baseMs?: number | undefined;
  /** Upper bound of every wait, in milliseconds. @default 2_000 */
  readonly maxMs?: number | undefined;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
}

/**
 * The wait after `failures` failed attempts: exponential, with full jitter, so that clients do not come back in step.
 * @returns milliseconds, uniform in [0, min(maxMs, baseMs * 2^failures))
 * @throws {RangeError} if `failures` is not a positive integer
 * @see Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015
 */
export function backoffMs(failures: number, { baseMs = 100, maxMs = 2_000, random = Math.random }: BackoffOptions = {}): number {
  if (!Number.isInteger(failures) || failures < 1) {
    throw new RangeError(`Cannot compute a wait: failures must be a positive integer, got ${failures}`);
  }
  return random() * Math.min(maxMs, baseMs * 2 ** failures);
}

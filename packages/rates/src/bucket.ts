import type { Charge } from "./rate-store.ts";

/**
 * When a bucket that was full at `fullAt` is full again once the cost is taken. A bucket is this one time: what is missing in
 * it is what fills in the time that is left.
 * @see "Generic cell rate algorithm", ITU-T I.371, annex A
 */
export function fullAfter({ amount, perMs, cost }: Charge, fullAt: number, now: number): number {
  return Math.max(now, Math.max(fullAt, now) + (cost / amount) * perMs);
}

/** How long, in whole milliseconds, until a bucket that would be full at `fullAt` owes nothing; 0 if it owes nothing now. */
export function debtMs({ perMs }: Charge, fullAt: number, now: number): number {
  const owed = fullAt - now - perMs;
  return owed > ROUNDING_MS ? Math.ceil(owed) : 0;
}

/** What sums of fractions may be off by. */
const ROUNDING_MS = 0.001;

import { debtMs, fullAfter } from "./bucket.ts";
import type { Charge, RateStore, Shortage } from "./rate-store.ts";

export interface MemoryRateStoreOptions {
  /** Milliseconds that never step back. @default the process's monotonic clock */
  readonly clock?: (() => number) | undefined;
  /** Buckets that are remembered; beyond, the one that nobody has used for longest is forgotten, and full. @default 100_000 */
  readonly maxBuckets?: number | undefined;
}

/** What callers have used up at this process: others do not know, and it ends with it. */
export function createMemoryRateStore({ clock = () => performance.now(), maxBuckets = 100_000 }: MemoryRateStoreOptions = {}): RateStore {
  /** When each is full again, in the order of use. */
  const fullAt = new Map<string, number>();

  function keep(key: string, time: number): void {
    fullAt.delete(key);
    fullAt.set(key, time);
    const oldest = fullAt.keys().next().value;
    if (fullAt.size > maxBuckets && oldest !== undefined) fullAt.delete(oldest);
  }

  function take(charges: readonly Charge[]): Shortage | undefined {
    const now = clock();
    let shortage: Shortage | undefined;
    const after = charges.map((charge, index) => {
      const time = fullAfter(charge, fullAt.get(charge.key) ?? now, now);
      const retryAfterMs = debtMs(charge, time, now);
      if (retryAfterMs > (shortage?.retryAfterMs ?? 0)) shortage = { index, retryAfterMs };
      return time;
    });
    if (shortage === undefined) for (const [i, { key }] of charges.entries()) keep(key, after[i] as number);
    return shortage;
  }

  return {
    take: async (charges) => take(charges),
    async charge(charge) {
      const now = clock();
      keep(charge.key, Math.min(fullAfter(charge, fullAt.get(charge.key) ?? now, now), now + 2 * charge.perMs));
    },
    async [Symbol.asyncDispose]() {
      fullAt.clear();
    },
  };
}

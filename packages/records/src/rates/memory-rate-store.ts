import { Buckets, type BucketsOptions } from "@rockbot/base";
import type { RateStore } from "./rate-store.ts";

/** What callers have used up at this process: others do not know, and it ends with it. */
export function createMemoryRateStore(options: BucketsOptions = {}): RateStore {
  const buckets = new Buckets(options);
  return {
    take: async (charges) => buckets.take(charges),
    charge: async (charge) => buckets.charge(charge),
    async [Symbol.asyncDispose]() {
      buckets.clear();
    },
  };
}

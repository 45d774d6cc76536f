import { Buckets, type BucketsOptions } from "@rockbot/base";
import type { RateStore } from "../rate-store.ts";

/**
 * The rates that callers have used up at this process. Other processes do not know them, and they end with this one.
 */
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

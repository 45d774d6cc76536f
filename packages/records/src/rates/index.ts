export { createMemoryRateStore } from "./memory-rate-store.ts";
// What callers have used up: in one process here, shared by processes in ./redis, so that only who wants that loads its client.
export type { RateStore } from "./rate-store.ts";

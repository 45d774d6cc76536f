// What callers have used up: in one process here, shared by processes in ./redis, so that only its users load the client.

export { createMemoryRateStore } from "./memory-rate-store.ts";
export type { RateStore } from "./rate-store.ts";

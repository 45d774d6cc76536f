// The use that callers have made of their rates. The store here is for one process; the one in ./redis is shared, and
// only its users load the client.

export { createMemoryRateStore } from "./memory/memory-rate-store.ts";
export type { RateStore } from "./rate-store.ts";

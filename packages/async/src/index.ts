export { type BackoffOptions, backoffMs } from "./backoff.ts";
export { createFairQueue, type FairQueue, type FairQueueLimits } from "./create-fair-queue.ts";
export { createSemaphore, type Semaphore } from "./create-semaphore.ts";
export { Deadlines } from "./deadlines.ts";
export { LinkedList, type ListEntry } from "./linked-list.ts";
export { OldestFirstMap } from "./oldest-first-map.ts";
export { RecentMap } from "./recent-map.ts";
export { startLoop } from "./start-loop.ts";
export { within } from "./within.ts";

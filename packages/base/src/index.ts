// Aborting.

export { type AbortSource, LightAbort, onAbort } from "./abort/light-abort.ts";
export { unlessAborted } from "./abort/unless-aborted.ts";

// Collections with a bound.

export { LinkedList, type ListEntry } from "./collections/linked-list.ts";
export { OldestFirstMap } from "./collections/oldest-first-map.ts";
export { RecentMap } from "./collections/recent-map.ts";
export { remembered } from "./collections/remembered.ts";
export { SlotMap } from "./collections/slot-map.ts";

// Leases.

export { RenewingLease, type RenewingLeaseOptions } from "./lease/renewing-lease.ts";

// What keeps a process from its work.

export { ProblemCode, standingProblems, watchProblem } from "./standing-problems.ts";

// Limits.

export { Buckets, type BucketsOptions, type Charge, type Shortage } from "./limits/buckets.ts";
export {
  type BoundedQueueLimits,
  createFairQueue,
  createFairQueues,
  type FairQueue,
  type FairQueueLimits,
  type FairQueues,
} from "./limits/create-fair-queue.ts";
export { createSemaphore, type Semaphore } from "./limits/create-semaphore.ts";

// Values.

export { isRecord } from "./values/is-record.ts";
export { isWithinPair } from "./values/is-within-pair.ts";
export { reasonOf } from "./values/reason-of.ts";

// Time and waiting.

export { AwakeClock } from "./time/awake-clock.ts";
export { type BackoffOptions, backoffMs } from "./time/backoff.ts";
export { Deadlines } from "./time/deadlines.ts";
export { pause } from "./time/pause.ts";
export { retryAfterMs } from "./time/retry-after.ts";
export { startLoop } from "./time/start-loop.ts";
export { within } from "./time/within.ts";

// The interface, its promises, and the errors and states that its users see.

export {
  type Bus,
  type BusTraits,
  DEFAULT_CONCURRENCY,
  DEFAULT_DRAIN_MS,
  DEFAULT_PUBLISH_TIMEOUT_MS,
  type Death,
  type Delivery,
  type Handler,
  HEALED_WITHIN_MS,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_PARKED_BODY_BYTES,
  PARKED_BYTES,
  PARKED_MESSAGES,
  PARKED_MS,
  type ParkedMessage,
  type ParkedVisitor,
  type ParkingReason,
  type PublishOptions,
  type QueuePart,
  type QueueState,
  RESULT_QUEUE_EXPIRES_MS,
  type SubscribeOptions,
  type SubscriptionKind,
  type VisitParkedOptions,
} from "./bus.ts";
export {
  BusClosedError,
  BusUnavailableError,
  DeadLetterError,
  MessageTooLargeError,
  QueueFullError,
  SubscriptionConflictError,
  SubscriptionTakenError,
  UnroutableError,
} from "./bus-errors.ts";
export { type Logger, silentLogger } from "./logger.ts";

// To make one that lives in this process.

export { createMemoryBus, type MemoryBusOptions } from "./memory-bus.ts";

// Requests and their answers.

export {
  createRequester,
  type Detour,
  type Requester,
  type RequesterOptions,
  type RequestOptions,
  RequestTimeoutError,
} from "./requester.ts";

// To build an adapter: what every one shares.

export { type CheckedSubscribeOptions, checkSubscribeOptions } from "./check-subscribe-options.ts";
export { headerBytesBeyond } from "./header-bytes.ts";
export { matchesTopic } from "./topic.ts";
export { messagingSpan, subscriptionLabel, traceBus } from "./trace-bus.ts";

// To make spans, and to sample them: whose trace it is.

export { traceOriginOf, withTraceOrigin } from "./trace-origin.ts";

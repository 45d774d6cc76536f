// The interface, and what it promises.
export {
  type Bus,
  type BusTraits,
  type Death,
  DEFAULT_CONCURRENCY,
  DEFAULT_DRAIN_MS,
  DEFAULT_PUBLISH_TIMEOUT_MS,
  type Delivery,
  type Handler,
  MAX_BODY_BYTES,
  PARKED_MESSAGES,
  PARKED_MS,
  type PublishOptions,
  type QueuePart,
  type QueueState,
  RESULT_QUEUE_EXPIRES_MS,
  type SubscribeOptions,
  type SubscriptionKind,
} from "./bus.ts";
export {
  BusClosedError,
  BusUnavailableError,
  DeadLetterError,
  MessageTooLargeError,
  QueueFullError,
  SubscriptionConflictError,
  UnroutableError,
} from "./bus-errors.ts";
export { type Logger, silentLogger } from "./logger.ts";

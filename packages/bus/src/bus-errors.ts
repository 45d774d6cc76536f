import { redact } from "@rockbot/base/redaction";

export interface PublishErrorOptions extends ErrorOptions {
  readonly mayHaveBeenTaken?: boolean | undefined;
  readonly isForbidden?: boolean | undefined;
}

/** A message was not published, as far as its sender knows. */
class PublishError extends Error {
  /** It was sent once, and never confirmed: somebody may have it. */
  readonly mayHaveBeenTaken: boolean;
  /** The user lacks the right to publish to the topic, or to subscribe so: the next attempt will fare the same. */
  readonly isForbidden: boolean;

  constructor(
    message: string,
    { mayHaveBeenTaken = false, isForbidden = false, ...options }: PublishErrorOptions = {},
  ) {
    super(message, options);
    this.mayHaveBeenTaken = mayHaveBeenTaken;
    this.isForbidden = isForbidden;
  }
}

/** The bus has been disposed of. */
export class BusClosedError extends PublishError {
  override readonly name = "BusClosedError";
}

/** The bus did not answer in time: the connection is away, or the broker has blocked publishers. */
export class BusUnavailableError extends PublishError {
  override readonly name = "BusUnavailableError";
}

/** Nobody subscribes to the topic of a mandatory message. */
export class UnroutableError extends PublishError {
  override readonly name = "UnroutableError";
}

/** A queue that should take the message is full. */
export class QueueFullError extends PublishError {
  override readonly name = "QueueFullError";
}

/** The message is larger than the bus carries. */
export class MessageTooLargeError extends Error {
  override readonly name = "MessageTooLargeError";
}

/** The queue of a subscription exists with other properties than this version gives it. */
export class SubscriptionConflictError extends Error {
  override readonly name = "SubscriptionConflictError";
}

/** A subscription of kind `result` has an owner and a successor already. */
export class SubscriptionTakenError extends Error {
  override readonly name = "SubscriptionTakenError";
}

/**
 * Thrown by a handler: this message can never be handled, so trying again is no use. Its text is kept with the message,
 * without secrets.
 */
export class DeadLetterError extends Error {
  override readonly name = "DeadLetterError";

  constructor(message: string, options?: ErrorOptions) {
    super(redact(message), options);
  }
}

import type { Envelope } from "@rockbot/contracts";

/**
 * Carries messages between services. Delivery is at least once: handlers must tolerate repeats. A message goes to each
 * subscription name whose topics match, and there to one of the consumers that share the name. Messages of one
 * publisher arrive in order as long as nothing is redelivered.
 */
export interface Bus extends AsyncDisposable {
  readonly traits: BusTraits;
  /** True if the bus can carry messages now; false while a lost connection is being restored. */
  readonly isReady: boolean;
  /**
   * True if the bus is there and takes no messages, for want of memory or disk: publishing waits until it does again.
   */
  readonly isBlocked: boolean;
  /**
   * Resolves once the bus has taken responsibility for the message. While the connection is away it waits, up to
   * `timeoutMs`, and publishes again what was not confirmed, under the same message id.
   * @throws {UnroutableError} if `mandatory` and no subscription matches
   * @throws {QueueFullError} if a matching queue refuses more messages
   * @throws {MessageTooLargeError} if the body exceeds MAX_BODY_BYTES, or the names and values of its headers
   * MAX_HEADER_BYTES
   * @throws {BusUnavailableError} if the bus has not confirmed in time
   * @throws {BusClosedError} after disposal
   */
  publish(message: Envelope, options?: PublishOptions): Promise<void>;
  /**
   * Hands each message on the topics to `handler`; resolves once messages are flowing. Survives reconnects. Disposal
   * takes no new messages, waits for running handlers up to `drainMs`, then aborts their `signal`; messages that were
   * not started go back.
   * @throws {SubscriptionConflictError} if the queue exists with other properties
   * @throws {SubscriptionTakenError} if a subscription of kind `result` has an owner and a successor already
   * @throws {BusUnavailableError} if the bus could not be reached in time
   * @throws {BusClosedError} after disposal
   */
  subscribe(options: SubscribeOptions, handler: Handler): Promise<AsyncDisposable>;
  /**
   * The state of the queue of a subscription of kind `service` or `result` now, of this process or another. Undefined
   * if there is no such queue.
   * @throws {BusUnavailableError} if the bus does not say in time
   */
  inspect(name: string, part?: QueuePart): Promise<QueueState | undefined>;
  /**
   * Shows `visit` the messages that are parked for a service now, oldest first and one at a time. A message that it
   * says to remove is gone; all others stay in their order. A visit breaks off if the visitor throws, the process dies
   * or the bus is lost. It loses nothing, and the message that it was at stays too. A visit passes over messages that
   * another holds.
   * @returns how many were shown; undefined if there is no such service
   * @throws {BusUnavailableError} if the bus does not answer in time
   * @throws {BusClosedError} after disposal
   */
  visitParked(name: string, visit: ParkedVisitor, options?: VisitParkedOptions): Promise<number | undefined>;
  /**
   * Disposes all subscriptions, then flushes what is being published, then closes. Idempotent, bounded by the bus's
   * drain time.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Properties in which buses differ. Everything else holds for each bus, as the conformance suite checks. */
export interface BusTraits {
  /** The broker, as spans name it. @default none: messages stay in the process */
  readonly system?: "rabbitmq" | undefined;
  /** Messages and their queues outlive the processes. */
  readonly isDurable: boolean;
  /** `userId` of a received message is the sender as the bus verified it. */
  readonly verifiesSender: boolean;
  /** The user that this process sends as, where senders are verified. */
  readonly user?: string | undefined;
}

/** Settings of one publish. */
export interface PublishOptions {
  /** True to fail if no subscription matches. @default false */
  readonly mandatory?: boolean | undefined;
  /**
   * How long a mandatory message is offered again while no subscription matches, in milliseconds. At a broker somebody
   * may have deleted the binding of a subscription that is there. A bus in this process, where nobody can, refuses the
   * message at once. @default 0
   */
  readonly offerAgainMs?: number | undefined;
  /** How long to wait for the bus to take the message. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** Gives up waiting: publish rejects with the signal's reason. The message may have been taken all the same. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Asked right before the message goes out, so after an outage if there is one. If it says no, the message is not
   * sent, and publish rejects with a BusUnavailableError. Costs less than a signal.
   */
  readonly isWanted?: (() => boolean) | undefined;
  /**
   * True to put the trace into the message that it is published in. A receiver that waits inside that trace has no use
   * for it.
   * @default true
   */
  readonly isTraced?: boolean | undefined;
  /**
   * True if the bus may carry the message in its memory alone. It costs less so, and is lost with the broker.
   * @default false
   */
  readonly isTransient?: boolean | undefined;
  /**
   * `fast`: the message goes to the subscriptions of that lane alone, in the bus's memory alone. One whose connection is
   * lost before the confirm is not published again. @default it goes to all others
   */
  readonly lane?: "fast" | undefined;
}

/**
 * How the queue of a subscription lives.
 * - `service`: shared by all consumers of the name, kept when they leave. A message whose handler throws is tried once
 *   more; if it fails again it goes to `onDeadLetter`, then to the parked messages. One that consumers died over is tried alone.
 * - `result`: kept while its one owner is away for up to 10 minutes. A second subscription of the name is the owner's
 * successor: each message comes to
 *   both, and what the owner leaves goes to the successor. An owner that comes back while the bus believes its dead connection alive is its own
 *   successor. A third is refused. A message whose handler throws is dropped and counted.
 * - `copy`: this subscription's own, gone with it; each subscription of the name gets every message. Throwing as in
 * `result`.
 */
export type SubscriptionKind = "service" | "result" | "copy";

/** Settings of one subscription. */
// Many because: each kind has its own few, and all but two have a default.
export interface SubscribeOptions {
  /** 1 to 100 of a-z, 0-9, "-" and ".". Shared by consumers that compete. */
  readonly name: string;
  /** Patterns: words separated by dots; `*` is any one word, `#` any number of words. */
  readonly topics: readonly string[];
  /** @default "service" */
  readonly kind?: SubscriptionKind | undefined;
  /** How many handlers run at once. @default 32 */
  readonly concurrency?: number | undefined;
  /**
   * How many messages this consumer has at most, those in handlers included: what others could take meanwhile.
   * @default twice the concurrency
   */
  readonly prefetch?: number | undefined;
  /**
   * The last word on a message that could not be handled (kind `service` only), such as an answer to its sender. Called
   * at least once for each such message, then the message is parked; if it throws, it is parked all the same.
   */
  readonly onDeadLetter?: ((message: Envelope, death: Death) => Promise<void>) | undefined;
  /**
   * Tells whether a message that crashed its consumers again and again may be to blame for it (kind `service` only).
   * One that is not to blame, since its work gets on from death to death, is delivered as if for the first time. One
   * that is, or of which this is not known, is tried alone.
   * @default all are to blame
   */
  readonly isToBlame?: ((message: Envelope) => Promise<boolean>) | undefined;
  /**
   * True to send messages to the oldest consumer of the name, as long as it has room (kind `service` only). Then one
   * process sees them in the order in which they were sent. @default false: consumers get messages in turn
   */
  readonly prefersOldest?: boolean | undefined;
  /**
   * True if this process has a subscription of the name already, and wants more of its messages at once (kind `service`
   * only). It takes them sooner, as nothing has to be declared; what has died is for the first. @default false
   */
  readonly isFurther?: boolean | undefined;
  /**
   * `fast`: takes the messages of that lane, from a queue besides the one of the name (kind `service` only). They are
   * lost with the broker, and with a queue that nobody takes from for a while. One whose handler throws comes once
   * more, then it is dropped and counted. @default takes all others
   */
  readonly lane?: "fast" | undefined;
  /**
   * Called when messages flow again after the connection was lost. What was published transiently before may be gone.
   */
  readonly onReconnected?: (() => void) | undefined;
  /**
   * Called once no message comes any more because the bus is being closed, unless the subscription is disposed of
   * before.
   */
  readonly onBusClosed?: (() => void) | undefined;
  /** How long disposal waits for running handlers. @default 20_000 */
  readonly drainMs?: number | undefined;
  /** True to run the handler in the trace that the message carries. @default true */
  readonly isTraced?: boolean | undefined;
}

/**
 * If it returns, the message is done. If it throws a DeadLetterError the message is dead at once; otherwise see
 * SubscriptionKind.
 */
export type Handler = (message: Envelope, delivery: Delivery) => Promise<void>;

/** The state of one delivery, which a handler gets beside the envelope. */
export interface Delivery {
  /** Aborts when the subscription is disposed of and its drain time is over. */
  readonly signal: AbortSignal;
  /**
   * When this process received the message, on the clock of `performance.now()`. Time spent waiting for a free handler
   * counts from here.
   */
  readonly receivedAt: number;
  /** True if the message was delivered before. */
  readonly isRedelivered: boolean;
  /**
   * Set if the message, or a copy of it, may have been handed out before. It is the earliest possible moment of that,
   * on the clock of `performance.now()`; -Infinity if the bus does not know. @default -Infinity if it is redelivered
   */
  readonly maybeHandledSince?: number | undefined;
  /**
   * Asks the bus whether the message is still this handler's: one whose connection was lost is somebody else's by now.
   * For a handler that is about to say that nothing was done. @default it is
   */
  readonly isOurs?: (() => Promise<boolean>) | undefined;
}

/** Why a message became a dead letter. */
export interface Death {
  /** `rejected`: DeadLetterError. `failed`: the handler threw twice. `crashed`: consumers died over it. */
  readonly reason: "rejected" | "failed" | "crashed";
  /** The text of the DeadLetterError, if the reason is `rejected`. */
  readonly message?: string | undefined;
}

/** Why a message is kept for an operator. `expired`: nobody took it while it was of use. */
export type ParkingReason = Death["reason"] | "expired";

/** A message that could not be handled, kept for an operator. */
export interface ParkedMessage {
  /**
   * As it was published first, with the sender if its service has had it verified. Its message id stays the same from
   * look to look.
   */
  readonly message: Envelope;
  readonly reason: ParkingReason;
  /** The text of the DeadLetterError, if the reason is `rejected`. */
  readonly why?: string | undefined;
  /** The user that put it there, as the bus verified it. Undefined if the bus did so by itself, or verifies nobody. */
  readonly parkedBy?: string | undefined;
  /** When it was parked, in milliseconds since the epoch, as far as that is known. */
  readonly parkedAt?: number | undefined;
  /**
   * When its sender says that it was sent, likewise. Undefined if it does not say: the envelope's time is that of this
   * look then.
   */
  readonly sentAt?: number | undefined;
}

/** Says what becomes of a parked message. */
export type ParkedVisitor = (parked: ParkedMessage) => Promise<"keep" | "remove">;

/** Which parked messages a visit shows. */
export interface VisitParkedOptions {
  /** At most this many are shown. @default all that are parked when the visit begins */
  readonly limit?: number | undefined;
  /** Aborting ends the visit before the next message: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The queues behind a subscription of kind `service`: live messages, those that consumers died over, messages given up,
 * and those kept for an operator.
 */
export type QueuePart = "main" | "retry" | "dlq" | "parked";

/** The consumers and messages of a queue at one moment. */
export interface QueueState {
  readonly consumers: number;
  /** Messages waiting, not counting those with a consumer. A broker may be some hundred milliseconds behind. */
  readonly messages: number;
}

/** The largest body a bus carries. A result may be 8 MiB, and its JSON text somewhat longer. */
export const MAX_BODY_BYTES = 12 * 1024 * 1024;
/** The largest header table, names and values together, without those that the trace adds. */
export const MAX_HEADER_BYTES = 16 * 1024;
/**
 * Parked messages are kept this long, at most PARKED_MESSAGES and PARKED_BYTES of them for each subscription: the
 * oldest give way.
 */
export const PARKED_MS = 7 * 24 * 3600 * 1000;
/** The largest number of parked messages of a service; beyond it the oldest are dropped. */
export const PARKED_MESSAGES = 10_000;
/** The largest size of the parked messages of a service, in bytes. */
export const PARKED_BYTES = 64 * 1024 * 1024;
/**
 * A message with a larger body is not parked, but dropped and counted once it has had its last word. No request may be
 * larger.
 */
export const MAX_PARKED_BODY_BYTES = 1024 * 1024;
/** A `result` queue whose owner is away is kept this long. */
export const RESULT_QUEUE_EXPIRES_MS = 10 * 60 * 1000;
/** How many handlers of a subscription run at once by default. */
export const DEFAULT_CONCURRENCY = 32;
/** How long a subscription waits by default for running handlers when it ends, in milliseconds. */
export const DEFAULT_DRAIN_MS = 20_000;
/** The owner of a queue or binding that was deleted at the broker declares it again within this time. */
export const HEALED_WITHIN_MS = 12_000;
/** How long a publish waits by default until the bus has taken the message, in milliseconds. */
export const DEFAULT_PUBLISH_TIMEOUT_MS = 10_000;

import { pause, reasonOf } from "@rockbot/base";
import { type Logger, SubscriptionTakenError } from "@rockbot/bus";
import type { Link } from "../connection/link.ts";
import { isInUse, isRefusal } from "../connection/refusal.ts";
import { nextQueueName, resultName } from "../queue-plan.ts";
import { bindNext, declareNext, declareResult, deleteEmpty, look, stateOf, unbind } from "../topology.ts";

/** A subscription of kind `result`, and its consumers by queue. */
export interface ResultQueuesOptions {
  readonly subscription: string;
  readonly topics: readonly string[];
  readonly log: Logger;
  /** Aborts with the subscription. */
  readonly signal: AbortSignal;
  isOpen(queue: string): boolean;
  /** Consumes a queue that is not consumed yet, as its only consumer. @throws {Error} if it has another */
  consume(link: Link, queue: string): Promise<void>;
  /**
   * Ends the consumer of a queue that has no more messages, unless some are being handled.
   * @returns whether it has ended
   */
  endIdle(queue: string): Promise<boolean>;
  /** Has the subscription attach once more. */
  lookAfter(link: Link): Promise<void>;
}

/**
 * A successor looks so often whether the owner is gone, and so many times: for as long as the broker may keep a dead
 * connection.
 */
const OWNER_LOOK_MS = 1_000;
const OWNER_LOOKS = 20;

/**
 * The place of a subscription of kind `result` among those of its name: it owns their queues, or is the successor of
 * the one that does. The broker lets one consumer have a queue, and keeps a dead one until it misses its heartbeats.
 * Meanwhile that consumer gets messages for this process, and nobody can end it. So the successor has a queue of its
 * own, bound to the same topics. A process of the same name that lives costs nobody an answer either: each message
 * comes to both.
 */
export class ResultQueues {
  readonly #options: ResultQueuesOptions;
  readonly #next: string;
  #isSuccessor = false;
  #hadNext = false;
  #watching: Link | undefined;

  constructor(options: ResultQueuesOptions) {
    this.#options = options;
    this.#next = nextQueueName(options.subscription);
  }

  /**
   * Declares and consumes what is this subscription's on a connection.
   * @returns the queues that it consumes
   * @throws {SubscriptionTakenError} if there are an owner and a successor already
   */
  async attach(link: Link): Promise<readonly string[]> {
    const { subscription, topics, log, isOpen } = this.#options;
    const [main = "", ...others] = await declareResult(link, subscription, topics);
    const isOwner = await this.#owns(link, main);
    if (isOwner) {
      for (const queue of others) await this.#isConsumed(link, queue);
      if (isOpen(this.#next) && (await look(link, this.#next)) === 0 && (await this.#options.endIdle(this.#next)))
        await deleteEmpty(link, this.#next);
      if (this.#hadNext && !isOpen(this.#next))
        log.info({ subscription }, "the messages of this subscription come here only");
    } else {
      await this.#succeed(link);
      if (!this.#isSuccessor)
        log.warn(
          { subscription },
          "another process or connection receives the messages of this subscription, so each comes to both",
        );
    }
    this.#isSuccessor = !isOwner;
    this.#hadNext = isOpen(this.#next);
    if (!isOwner) void this.#watchOwner(link);
    return [main, ...others, this.#next].filter(isOpen);
  }

  /** @returns whether the main queue is this subscription's now */
  async #owns(link: Link, main: string): Promise<boolean> {
    const { isOpen } = this.#options;
    if (isOpen(main)) return true;
    // The broker logs each refusal, so a successor asks first.
    const isTaken = isOpen(this.#next) && ((await stateOf(link, main))?.consumers ?? 0) > 0;
    if (isTaken || !(await this.#isConsumed(link, main))) return false;
    await this.#takeOver(link);
    return true;
  }

  /** @returns whether the queue is this subscription's now; if not, it has another consumer */
  async #isConsumed(link: Link, queue: string): Promise<boolean> {
    try {
      await this.#options.consume(link, queue);
      return true;
    } catch (error) {
      if (isInUse(error)) return false;
      throw error;
    }
  }

  /**
   * The topics lead to the successor's queue once it is this one's: an owner takes such a queue over if nobody consumes
   * it.
   */
  async #succeed(link: Link): Promise<void> {
    const { subscription, topics, consume } = this.#options;
    try {
      await declareNext(link, this.#next);
      await consume(link, this.#next);
      await bindNext(link, this.#next, topics);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const why = isInUse(error)
        ? "two others receive its messages"
        : `another receives its messages, and the broker refuses a second queue (${reasonOf(error)})`;
      throw new SubscriptionTakenError(
        `Cannot subscribe as "${subscription}": ${why}. Give each process a name of its own`,
        { cause: error },
      );
    }
  }

  /**
   * Takes what the queue of a successor has that is this owner itself, or is gone. The topics lead to the owner's queue
   * already.
   */
  async #takeOver(link: Link): Promise<void> {
    const isMine = this.#options.isOpen(this.#next);
    if (!isMine && (await stateOf(link, this.#next))?.consumers !== 0) return;
    if (isMine || (await this.#isConsumed(link, this.#next))) await unbind(link, this.#next, this.#options.topics);
  }

  /** Looks whether the owner is gone, more often than the bus does, and for as long as it may be a dead connection. */
  async #watchOwner(link: Link): Promise<void> {
    if (this.#watching === link) return;
    this.#watching = link;
    const { subscription, signal, lookAfter } = this.#options;
    const ended = AbortSignal.any([link.signal, signal]);
    try {
      for (let looks = 0; looks < OWNER_LOOKS && this.#isSuccessor; looks++) {
        await pause(OWNER_LOOK_MS, ended);
        ended.throwIfAborted();
        if ((await stateOf(link, resultName(subscription)))?.consumers === 0) await lookAfter(link);
      }
    } catch {} // the connection is lost: the next one is attached to anyway
  }
}

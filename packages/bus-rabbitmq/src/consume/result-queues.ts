import { SubscriptionTakenError } from "@rockbot/bus";
import type { Link } from "../connection/link.ts";
import { isInUse, isRefusal, reasonOf } from "../connection/refusal.ts";
import { nextQueueName } from "../queue-plan.ts";
import { bindNext, declareNext, declareResult, deleteEmpty, look, stateOf, unbind } from "../topology.ts";

/** The consumers of one subscription of kind `result`, by queue. */
export interface ResultConsumers {
  readonly subscription: string;
  readonly topics: readonly string[];
  isOpen(queue: string): boolean;
  /** Consumes a queue that is not consumed yet, as its only consumer. @throws {Error} if it has another */
  consume(queue: string): Promise<void>;
  /** Ends the consumer of a queue that has no more messages, unless some are being handled. @returns whether it has ended */
  endIdle(queue: string): Promise<boolean>;
}

/** The place of a subscription of kind `result` among those of its name. */
export interface ResultPlace {
  readonly isOwner: boolean;
  /** The queues that it consumes. */
  readonly queues: readonly string[];
}

/**
 * Makes a subscription the owner of its queues, or the successor of the one that is. The broker lets one consumer have a queue, and keeps a dead one until
 * it misses its heartbeats. Meanwhile that consumer gets messages for this process, and nobody can end it. So the successor has a queue of its own, bound to
 * the same topics. A process of the same name that lives costs nobody an answer either: each message comes to both.
 * @throws {SubscriptionTakenError} if there is a successor, too
 */
export async function attachResult(link: Link, consumers: ResultConsumers): Promise<ResultPlace> {
  const { subscription, topics, isOpen } = consumers;
  const [main = "", ...others] = await declareResult(link, subscription, topics);
  const next = nextQueueName(subscription);
  const wasOwner = isOpen(main);
  // The broker logs each refusal, so a successor asks first.
  const isTaken = !wasOwner && isOpen(next) && ((await stateOf(link, main))?.consumers ?? 0) > 0;
  if (isTaken || !(await isConsumed(main, consumers))) {
    await succeed(link, next, consumers);
    return { isOwner: false, queues: [next] };
  }
  for (const queue of others) await isConsumed(queue, consumers);
  if (!wasOwner) await takeOver(link, next, consumers);
  if (isOpen(next) && (await look(link, next)) === 0 && (await consumers.endIdle(next))) await deleteEmpty(link, next);
  return { isOwner: true, queues: [main, ...others, next].filter(isOpen) };
}

/** @returns whether the queue is this subscription's now; if not, it has another consumer */
async function isConsumed(queue: string, { consume }: ResultConsumers): Promise<boolean> {
  try {
    await consume(queue);
    return true;
  } catch (error) {
    if (isInUse(error)) return false;
    throw error;
  }
}

/** The topics lead to the successor's queue once it is this one's: an owner takes such a queue over if nobody consumes it. */
async function succeed(link: Link, next: string, { subscription, topics, consume }: ResultConsumers): Promise<void> {
  try {
    await declareNext(link, next);
    await consume(next);
    await bindNext(link, next, topics);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const why = isInUse(error)
      ? "two others receive its messages"
      : `another receives its messages, and the broker refuses a second queue (${reasonOf(error)})`;
    throw new SubscriptionTakenError(`Cannot subscribe as "${subscription}": ${why}. Give each process a name of its own`, { cause: error });
  }
}

/** Takes what the queue of a successor has that is this owner itself, or is gone. The topics lead to the owner's queue already. */
async function takeOver(link: Link, next: string, consumers: ResultConsumers): Promise<void> {
  const isMine = consumers.isOpen(next);
  if (!isMine && (await stateOf(link, next))?.consumers !== 0) return;
  if (isMine || (await isConsumed(next, consumers))) await unbind(link, next, consumers.topics);
}

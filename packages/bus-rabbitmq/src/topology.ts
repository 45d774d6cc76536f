import { within } from "@rockbot/base";
import type { QueueState } from "@rockbot/bus";
import type { Channel } from "amqplib";
import { type Link, NoAnswerError } from "./connection/link.ts";
import { NOT_FOUND, RESOURCE_LOCKED } from "./connection/refusal.ts";
import {
  COPY_NAMES,
  copyArguments,
  copyName,
  DEAD_LETTER_EXCHANGE,
  EXCHANGE,
  FAST_EXCHANGE,
  fastArguments,
  fastName,
  mainNames,
  nextArguments,
  type QueueArguments,
  type QueueVersions,
  resultArguments,
  resultName,
  serviceQueues,
  spareQueueName,
} from "./queue-plan.ts";

/** Has no factor in common with COPY_NAMES: all of them are tried. */
const COPY_STRIDE = 89;
/**
 * The time that a classic queue may take to say that it is there. One whose node is down says nothing, for as long as
 * that is so.
 */
const CLASSIC_MS = 1_500;
/** How long one that leaves a queue waits for its end. */
const LEAVE_MS = 1_000;

const declaring = new WeakMap<Link, Promise<boolean>>();

/**
 * Sees to what every connection that publishes or consumes relies on; those who ask at the same time share the answer.
 * It is declared only where it is not there: a user with rights of its own finds what the imported definitions made,
 * and may not.
 * @returns whether all of it was there
 */
export function declareExchanges(link: Link): Promise<boolean> {
  const shared = declaring.get(link);
  if (shared !== undefined) return shared;
  const declared = declareMissing(link, [EXCHANGE, DEAD_LETTER_EXCHANGE]).finally(() => declaring.delete(link));
  declaring.set(link, declared);
  return declared;
}

async function declareMissing(link: Link, exchanges: readonly string[]): Promise<boolean> {
  const onEach = (ask: (channel: Channel, exchange: string) => PromiseLike<unknown>) =>
    onScratchChannel(link, async (channel) => {
      for (const exchange of exchanges) await link.answer("exchange.declare", Promise.resolve(ask(channel, exchange)));
    });
  try {
    await onEach((channel, exchange) => channel.checkExchange(exchange));
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== NOT_FOUND) throw error;
    await onEach((channel, exchange) => channel.assertExchange(exchange, "topic", { durable: true }));
    return false;
  }
}

/**
 * Declares the queues of a service, and binds the main one to its topics unless a retired one is there: then
 * `leadTopics` decides.
 * @returns the retired main queues that are there
 */
export async function declareService(
  link: Link,
  subscription: string,
  topics: readonly string[],
  versions: QueueVersions,
): Promise<readonly string[]> {
  await onScratchChannel(link, async (channel) => {
    for (const queue of serviceQueues(subscription, versions)) {
      await declare(link, channel, queue.name, queue.arguments);
      for (const key of queue.deadLetterKeys)
        await link.answer("queue.bind", channel.bindQueue(queue.name, DEAD_LETTER_EXCHANGE, key));
    }
  });
  const [main = "", ...retired] = mainNames(subscription, versions);
  const there: string[] = [];
  for (const queue of retired) if ((await look(link, queue)) !== undefined) there.push(queue);
  if (there.length === 0) await onScratchChannel(link, (channel) => bind(link, channel, main, topics));
  return there;
}

/** Declares what the fast lane is published to, where it is not there. @throws {Error} if the broker refuses */
export const declareFastExchange = (link: Link): Promise<boolean> => declareMissing(link, [FAST_EXCHANGE]);

/**
 * Declares the queue of a service's fast lane, bound to its topics.
 * @returns its name
 */
export async function declareFast(link: Link, subscription: string, topics: readonly string[]): Promise<string> {
  const queue = fastName(subscription);
  await declareFastExchange(link);
  await onScratchChannel(link, async (channel) => {
    await declare(link, channel, queue, fastArguments);
    for (const topic of topics) await link.answer("queue.bind", channel.bindQueue(queue, FAST_EXCHANGE, topic));
  });
  return queue;
}

/**
 * Declares the queue of one who waits for answers; the broker deletes it when it has had no consumer for ten minutes.
 * It is a classic queue, which answers sooner than a quorum queue by what a disk takes to write, and lies on one node.
 * While that is down a spare one on another node takes its place.
 * @returns the queues that may have answers, of which one gets them from now on
 */
export async function declareResult(
  link: Link,
  subscription: string,
  topics: readonly string[],
): Promise<readonly string[]> {
  const main = resultName(subscription);
  const spare = spareQueueName(subscription);
  if (await isDeclared(link, main)) {
    await onScratchChannel(link, (channel) => bind(link, channel, main, topics));
    if ((await look(link, spare)) === undefined) return [main];
    await unbind(link, spare, topics);
    return [main, spare];
  }
  await onScratchChannel(link, async (channel) => {
    await declare(link, channel, spare, resultArguments);
    await bind(link, channel, spare, topics);
  });
  await unbind(link, main, topics); // while it is bound the broker refuses answers, as one of their queues cannot take them
  return [spare];
}

/**
 * @returns whether a result queue is there now; if not, the node that has it is down
 * @throws {Error} if the broker refuses it for another reason
 */
async function isDeclared(link: Link, queue: string): Promise<boolean> {
  try {
    await onScratchChannel(link, (channel) =>
      link.answerWithin(
        CLASSIC_MS,
        "queue.declare",
        Promise.resolve(channel.assertQueue(queue, { durable: true, arguments: resultArguments })),
      ),
    );
    return true;
  } catch (error) {
    if (error instanceof NoAnswerError || (error as { readonly code?: unknown }).code === NOT_FOUND) return false; // before RabbitMQ 4 it says so
    throw error;
  }
}

/**
 * @returns how many messages wait in a queue; undefined if it is not there, or does not say
 * @throws {Error} if the connection is lost
 */
export const look = async (link: Link, queue: string): Promise<number | undefined> =>
  (await stateOf(link, queue))?.messages;

/**
 * @returns what waits in a queue, and how many consume it; undefined if it is not there, or does not say
 * @throws {Error} if the connection is lost
 */
export async function stateOf(link: Link, queue: string): Promise<QueueState | undefined> {
  try {
    const { messageCount, consumerCount } = await onScratchChannel(link, (channel) =>
      link.answerWithin(CLASSIC_MS, "queue.declare", Promise.resolve(channel.checkQueue(queue))),
    );
    return { messages: messageCount, consumers: consumerCount };
  } catch {
    link.signal.throwIfAborted();
    return undefined;
  }
}

export async function unbind(link: Link, queue: string, topics: readonly string[]): Promise<void> {
  const unbound = onScratchChannel(link, async (channel) => {
    for (const topic of topics)
      await link.answerWithin(CLASSIC_MS, "queue.unbind", Promise.resolve(channel.unbindQueue(queue, EXCHANGE, topic)));
  });
  await unbound.catch(() => link.signal.throwIfAborted()); // before RabbitMQ 4 a queue whose node is down cannot be unbound, and gets nothing either
}

/** Declares the queue of one that is to succeed the owner of a result queue. */
export const declareNext = (link: Link, queue: string): Promise<void> =>
  onScratchChannel(link, (channel) => declare(link, channel, queue, nextArguments));

export const bindNext = (link: Link, queue: string, topics: readonly string[]): Promise<void> =>
  onScratchChannel(link, (channel) => bind(link, channel, queue, topics));

/** Deletes a queue unless it has messages or consumers. @throws {Error} if the connection is lost */
export async function deleteEmpty(link: Link, queue: string): Promise<void> {
  const deleted = onScratchChannel(link, (channel) =>
    link.answerWithin(
      CLASSIC_MS,
      "queue.delete",
      Promise.resolve(channel.deleteQueue(queue, { ifEmpty: true, ifUnused: true })),
    ),
  );
  await deleted.catch(() => link.signal.throwIfAborted()); // it ends by itself
}

export interface DeclareCopyOptions {
  /** The connecting user, if the broker verifies that: then the queue has one of the names that are this user's. */
  readonly user: string | undefined;
  /** If it has been declared. */
  readonly existing: CopyQueue | undefined;
}

/** A queue for copies of one subscription. */
export interface CopyQueue {
  readonly name: string;
  /** Gives its name back, once it has no consumer any more. */
  leave(): Promise<void>;
}

/**
 * The names of queues for copies that subscriptions of a connection have. What is exclusive to a connection is so to
 * all of its subscriptions together: the broker would declare the queue of one for another, and share its messages out
 * between them.
 */
const copyNames = new WeakMap<Link, Set<string>>();

/** Binds a queue that is this subscription's own and goes with its consumer. */
export async function declareCopy(
  link: Link,
  topics: readonly string[],
  { user, existing }: DeclareCopyOptions,
): Promise<CopyQueue> {
  const queue =
    existing ??
    (user === undefined
      ? { name: await declareOwn(link, ""), leave: async () => {} }
      : await declareNumbered(link, user));
  try {
    await onScratchChannel(link, (channel) => bind(link, channel, queue.name, topics));
  } catch (error) {
    if (existing === undefined) await queue.leave();
    throw error;
  }
  return queue;
}

/**
 * By lot, so that processes of one user seldom ask for the same name.
 * @throws {Error} if the broker refuses, or too many names are taken
 */
async function declareNumbered(link: Link, user: string): Promise<CopyQueue> {
  const taken = copyNames.get(link) ?? new Set();
  copyNames.set(link, taken);
  const first = Math.floor(Math.random() * COPY_NAMES);
  let refusal: unknown = new Error(`this process has all ${COPY_NAMES} queues for copies of the user "${user}"`);
  for (let tried = 0; tried < COPY_NAMES; tried++) {
    const name = copyName(user, (first + tried * COPY_STRIDE) % COPY_NAMES);
    if (taken.has(name)) continue;
    taken.add(name); // before the broker answers, as others ask meanwhile
    try {
      await declareOwn(link, name);
      return { name, leave: () => leaveCopy(link, name, taken) };
    } catch (error) {
      taken.delete(name);
      if ((error as { readonly code?: unknown }).code !== RESOURCE_LOCKED) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/** A queue that has had a consumer goes by itself, but later: its name is free once it is gone. */
async function leaveCopy(link: Link, name: string, taken: Set<string>): Promise<void> {
  const gone = onScratchChannel(link, (channel) => link.answer("queue.delete", channel.deleteQueue(name)))
    .catch(() => {}) // it goes with the connection
    .then(() => taken.delete(name));
  await within(LEAVE_MS, gone, () => new Error("no answer")).catch(() => {});
}

/** @param name "" for one that the broker makes */
const declareOwn = (link: Link, name: string): Promise<string> =>
  onScratchChannel(link, async (channel) => {
    const options = { exclusive: true, autoDelete: true, durable: false, arguments: copyArguments };
    return (await link.answer("queue.declare", channel.assertQueue(name, options))).queue;
  });

async function declare(link: Link, channel: Channel, queue: string, args: QueueArguments): Promise<void> {
  await link.answer("queue.declare", channel.assertQueue(queue, { durable: true, arguments: args }));
}

export async function bind(link: Link, channel: Channel, queue: string, topics: readonly string[]): Promise<void> {
  for (const topic of topics) await link.answer("queue.bind", channel.bindQueue(queue, EXCHANGE, topic));
}

/**
 * Runs `work` on a channel of its own: whatever the broker refuses closes the channel, and must not take others' work
 * with it.
 */
export async function onScratchChannel<T>(
  link: Pick<Link, "openChannel">,
  work: (channel: Channel) => Promise<T>,
): Promise<T> {
  const channel = await link.openChannel();
  try {
    return await work(channel);
  } finally {
    // Fails if the broker has closed it already; where the broker is slow, nobody waits for it.
    (async () => channel.close())().catch(() => {});
  }
}

import { PARKED_MESSAGES, PARKED_MS, type QueuePart, RESULT_QUEUE_EXPIRES_MS } from "@rockbot/bus";
import type { Channel } from "amqplib";
import type { Link } from "./link.ts";

/** Where messages are published. It has no alternate exchange, which would swallow what `mandatory` should return. */
export const EXCHANGE = "rockbot";
/** By queue name. A topic exchange, since its keys are the only ones that a broker grants one by one: of a direct one a service could bind and write others'. */
export const DEAD_LETTER_EXCHANGE = "rockbot.dlx.v1";
/** More deaths of consumers over a message than this, and it goes to the lone retry. */
const DELIVERY_LIMIT = 10;

/** The name on the broker of the queue behind a subscription of kind `service` or `result`. */
export function queueName(subscription: string, part: QueuePart = "main"): string {
  const main = `rockbot.${subscription}.v1`;
  return part === "main" ? main : `${main}.${part}`;
}

const declaring = new WeakMap<Link, Promise<void>>();

/**
 * Sees to what every connection that publishes or consumes relies on; those who ask at the same time share the answer. It is declared
 * only where it is not there: a user with rights of its own finds what the imported definitions made, and may not.
 */
export function declareExchanges(link: Link): Promise<void> {
  const shared = declaring.get(link);
  if (shared !== undefined) return shared;
  const declared = declareMissingExchanges(link).finally(() => declaring.delete(link));
  declaring.set(link, declared);
  return declared;
}

async function declareMissingExchanges(link: Link): Promise<void> {
  const onEach = (ask: (channel: Channel, exchange: string) => PromiseLike<unknown>) =>
    onScratchChannel(link, async (channel) => {
      for (const exchange of [EXCHANGE, DEAD_LETTER_EXCHANGE]) await link.answer("exchange.declare", Promise.resolve(ask(channel, exchange)));
    });
  try {
    await onEach((channel, exchange) => channel.checkExchange(exchange));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 404) throw error;
    await onEach((channel, exchange) => channel.assertExchange(exchange, "topic", { durable: true }));
  }
}

/**
 * Declares the queues of a service. From the main queue a message that fails goes to `retry`, from there to `dlq`, from
 * there, once answered, to `parked`. Lengths of live queues are not arguments, since those can never be changed: they
 * come as policies.
 */
export async function declareService(link: Link, subscription: string, topics: readonly string[]): Promise<void> {
  const parts: Record<QueuePart, Record<string, unknown>> = {
    // Classic: a quorum queue counts each look as a delivery, and from RabbitMQ 4 on drops a message after twenty.
    parked: { "x-queue-type": "classic", "x-message-ttl": PARKED_MS, "x-max-length": PARKED_MESSAGES, "x-overflow": "drop-head" },
    dlq: { "x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT, ...deadLettersTo(queueName(subscription, "parked")) },
    retry: { "x-queue-type": "quorum", "x-delivery-limit": 1, ...deadLettersTo(queueName(subscription, "dlq")) },
    main: { "x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT, ...deadLettersTo(queueName(subscription, "retry")) },
  };
  await onScratchChannel(link, async (channel) => {
    // The last station first: no message may die on its way to a queue that is not there yet.
    for (const part of ["parked", "dlq", "retry", "main"] as const) {
      const queue = queueName(subscription, part);
      await declare(link, channel, queue, parts[part]);
      if (part !== "main") await link.answer("queue.bind", channel.bindQueue(queue, DEAD_LETTER_EXCHANGE, queue));
    }
    await bind(link, channel, queueName(subscription), topics);
  });
}

/** Declares the queue of one who waits for answers; the broker deletes it when it has had no consumer for ten minutes. */
export async function declareResult(link: Link, subscription: string, topics: readonly string[]): Promise<void> {
  const queue = queueName(subscription);
  await onScratchChannel(link, async (channel) => {
    await declare(link, channel, queue, { "x-queue-type": "classic", "x-expires": RESULT_QUEUE_EXPIRES_MS });
    await bind(link, channel, queue, topics);
  });
}

/** Declares a queue that is this connection's own and goes with its consumer. @returns its name, which the broker makes */
export async function declareCopy(link: Link, topics: readonly string[]): Promise<string> {
  return onScratchChannel(link, async (channel) => {
    const options = { exclusive: true, autoDelete: true, durable: false, arguments: { "x-queue-type": "classic" } };
    const { queue } = await link.answer("queue.declare", channel.assertQueue("", options));
    await bind(link, channel, queue, topics);
    return queue;
  });
}

/** At-least-once: the broker keeps a dead letter until the next queue has it, which needs that overflow setting. */
function deadLettersTo(queue: string): Record<string, unknown> {
  return {
    "x-dead-letter-exchange": DEAD_LETTER_EXCHANGE,
    "x-dead-letter-routing-key": queue,
    "x-dead-letter-strategy": "at-least-once",
    "x-overflow": "reject-publish",
  };
}

async function declare(link: Link, channel: Channel, queue: string, args: Record<string, unknown>): Promise<void> {
  await link.answer("queue.declare", channel.assertQueue(queue, { durable: true, arguments: args }));
}

async function bind(link: Link, channel: Channel, queue: string, topics: readonly string[]): Promise<void> {
  for (const topic of topics) await link.answer("queue.bind", channel.bindQueue(queue, EXCHANGE, topic));
}

/**
 * Runs `work` on a channel of its own: whatever the broker refuses closes the channel, and must not take others' work
 * with it.
 */
async function onScratchChannel<T>(link: Link, work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await link.openChannel();
  channel.on("error", () => {}); // the answer that did not come says the same
  try {
    return await work(channel);
  } finally {
    // Fails if the broker has closed it already; where the broker is slow, nobody waits for it.
    (async () => channel.close())().catch(() => {});
  }
}

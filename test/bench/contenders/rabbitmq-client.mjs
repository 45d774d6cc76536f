import { randomUUID } from "node:crypto";
import { Connection } from "rabbitmq-client";
import { PREFETCH } from "../contender.ts";

const EXCHANGE = "bench-client";
const REQUESTS = "tool.invoke.bench-client";
const REPLIES = "tool.result.bench-client";
const exchanges = [{ exchange: EXCHANGE, type: "topic", durable: true }];

/** rabbitmq-client with the guarantees of amqplib-same, by its consumers and confirming publishers. */
export async function serve({ amqpUrl }) {
  const connection = new Connection({ url: amqpUrl, noDelay: true });
  const publisher = connection.createPublisher({ confirm: true, exchanges });
  const consumer = connection.createConsumer(
    {
      queue: REQUESTS,
      queueOptions: { durable: true, arguments: { "x-queue-type": "quorum" } },
      exchanges,
      queueBindings: [{ exchange: EXCHANGE, routingKey: REQUESTS }],
      qos: { prefetchCount: PREFETCH },
    },
    async ({ body, correlationId, replyTo }) => {
      await publisher.send(
        { exchange: EXCHANGE, routingKey: replyTo, durable: true, correlationId },
        { id: body.id, payload: body.payload },
      );
    },
  );
  await new Promise((resolve) => consumer.once("ready", resolve));
  return { [Symbol.asyncDispose]: () => connection.close() };
}

export async function connect({ amqpUrl }) {
  const connection = new Connection({ url: amqpUrl, noDelay: true });
  const publisher = connection.createPublisher({ confirm: true, exchanges });
  const pending = new Map();
  const consumer = connection.createConsumer(
    {
      queue: REPLIES,
      queueOptions: { durable: true, arguments: { "x-expires": 600_000 } },
      exchanges,
      queueBindings: [{ exchange: EXCHANGE, routingKey: REPLIES }],
      qos: { prefetchCount: 2 * PREFETCH },
    },
    async ({ body, correlationId }) => {
      pending.get(correlationId)?.(body.payload);
      pending.delete(correlationId);
    },
  );
  await new Promise((resolve) => consumer.once("ready", resolve));
  return {
    call: (payload) =>
      new Promise((resolve, reject) => {
        const id = randomUUID();
        pending.set(id, resolve);
        publisher
          .send(
            {
              exchange: EXCHANGE,
              routingKey: REQUESTS,
              durable: true,
              correlationId: id,
              messageId: id,
              replyTo: REPLIES,
            },
            { id, payload },
          )
          .catch(reject);
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

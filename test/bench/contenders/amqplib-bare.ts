import { randomUUID } from "node:crypto";
import { connect as connectAmqp } from "amqplib";
import { type Caller, type Place, PREFETCH } from "../contender.ts";
import type { Payload } from "../payload.ts";

const REQUESTS = "bench-bare.requests";

/** Plain amqplib without any guarantee: transient messages, no confirms, no acks, RabbitMQ's direct reply-to. */
export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  const connection = await connectAmqp(amqpUrl, { noDelay: true });
  const channel = await connection.createChannel();
  await channel.prefetch(PREFETCH);
  await channel.assertQueue(REQUESTS, { durable: false, autoDelete: true });
  await channel.consume(
    REQUESTS,
    (message) => {
      if (message === null) return;
      const { id, payload } = JSON.parse(message.content.toString()) as {
        readonly id: string;
        readonly payload: Payload;
      };
      const { replyTo, correlationId } = message.properties as {
        readonly replyTo: string;
        readonly correlationId: string;
      };
      channel.sendToQueue(replyTo, Buffer.from(JSON.stringify({ id, payload })), { correlationId });
    },
    { noAck: true },
  );
  return { [Symbol.asyncDispose]: () => connection.close() };
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  const connection = await connectAmqp(amqpUrl, { noDelay: true });
  const channel = await connection.createChannel();
  const pending = new Map<string, (payload: Payload) => void>();
  await channel.consume(
    "amq.rabbitmq.reply-to",
    (message) => {
      if (message === null) return;
      const { payload } = JSON.parse(message.content.toString()) as { readonly payload: Payload };
      const { correlationId } = message.properties as { readonly correlationId: string };
      pending.get(correlationId)?.(payload);
      pending.delete(correlationId);
    },
    { noAck: true },
  );
  return {
    call: (payload) =>
      new Promise((resolve) => {
        const id = randomUUID();
        pending.set(id, resolve);
        channel.sendToQueue(REQUESTS, Buffer.from(JSON.stringify({ id, payload })), {
          correlationId: id,
          replyTo: "amq.rabbitmq.reply-to",
        });
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

import { randomUUID } from "node:crypto";
import { connect as connectAmqp } from "amqplib";
import { type Caller, type Place, PREFETCH } from "../contender.ts";

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
      const { id, text } = JSON.parse(message.content.toString()) as { readonly id: string; readonly text: string };
      const { replyTo, correlationId } = message.properties as { readonly replyTo: string; readonly correlationId: string };
      channel.sendToQueue(replyTo, Buffer.from(JSON.stringify({ id, text })), { correlationId });
    },
    { noAck: true },
  );
  return { [Symbol.asyncDispose]: () => connection.close() };
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  const connection = await connectAmqp(amqpUrl, { noDelay: true });
  const channel = await connection.createChannel();
  const pending = new Map<string, (text: string) => void>();
  await channel.consume(
    "amq.rabbitmq.reply-to",
    (message) => {
      if (message === null) return;
      const { text } = JSON.parse(message.content.toString()) as { readonly text: string };
      const { correlationId } = message.properties as { readonly correlationId: string };
      pending.get(correlationId)?.(text);
      pending.delete(correlationId);
    },
    { noAck: true },
  );
  return {
    call: (text) =>
      new Promise((resolve) => {
        const id = randomUUID();
        pending.set(id, resolve);
        channel.sendToQueue(REQUESTS, Buffer.from(JSON.stringify({ id, text })), { correlationId: id, replyTo: "amq.rabbitmq.reply-to" });
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

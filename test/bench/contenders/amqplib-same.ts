import { randomUUID } from "node:crypto";
import { type Caller, type Place, PREFETCH } from "../contender.ts";
import { openPlainChannel } from "./plain-channel.ts";

const EXCHANGE = "bench-plain";
const REQUESTS = "tool.invoke.bench-plain";
const REPLIES = "tool.result.bench-plain";

/**
 * Plain amqplib with what ours guarantees and nothing else: durable topic exchange, quorum queue, persistent messages,
 * pipelined confirms on both sides, a request acked once its reply is confirmed, a durable reply queue with manual acks.
 */
export async function serve({ amqpUrl }: Place): Promise<AsyncDisposable> {
  const queueOptions = { arguments: { "x-queue-type": "quorum" } };
  const { connection, channel } = await openPlainChannel(amqpUrl, { exchange: EXCHANGE, prefetch: PREFETCH, queue: REQUESTS, queueOptions });
  await channel.consume(REQUESTS, (message) => {
    if (message === null) return;
    const { id, text } = JSON.parse(message.content.toString()) as { readonly id: string; readonly text: string };
    const { replyTo, correlationId } = message.properties as { readonly replyTo: string; readonly correlationId: string };
    channel.publish(EXCHANGE, replyTo, Buffer.from(JSON.stringify({ id, text })), { persistent: true, correlationId }, (error: Error | null) => {
      if (error === null) channel.ack(message);
      else channel.nack(message);
    });
  });
  return { [Symbol.asyncDispose]: () => connection.close() };
}

export async function connect({ amqpUrl }: Place): Promise<Caller> {
  const queueOptions = { expires: 600_000 };
  const { connection, channel } = await openPlainChannel(amqpUrl, { exchange: EXCHANGE, prefetch: 2 * PREFETCH, queue: REPLIES, queueOptions });
  const pending = new Map<string, (text: string) => void>();
  await channel.consume(REPLIES, (message) => {
    if (message === null) return;
    const { text } = JSON.parse(message.content.toString()) as { readonly text: string };
    const { correlationId } = message.properties as { readonly correlationId: string };
    pending.get(correlationId)?.(text);
    pending.delete(correlationId);
    channel.ack(message);
  });
  return {
    call: (text) =>
      new Promise((resolve, reject) => {
        const id = randomUUID();
        pending.set(id, resolve);
        const properties = { persistent: true, correlationId: id, messageId: id, replyTo: REPLIES };
        channel.publish(EXCHANGE, REQUESTS, Buffer.from(JSON.stringify({ id, text })), properties, (error: Error | null) => {
          if (error !== null) reject(error);
        });
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

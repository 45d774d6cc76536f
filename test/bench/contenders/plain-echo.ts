import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from "amqplib";
import { type Caller, type Contender, PREFETCH } from "../contender.ts";
import type { Payload } from "../payload.ts";
import { openPlainChannel } from "./plain-channel.ts";

export interface PlainEchoOptions {
  /** The last word of its topics, and its exchange. */
  readonly name: string;
  /** What is written in a turn of the event loop goes out at once, and acks are sent for many messages together. */
  readonly isBatched: boolean;
}

/**
 * Plain amqplib with what ours guarantees and nothing else: durable topic exchange, quorum queue, persistent messages,
 * pipelined confirms on both sides, a request acked once its reply is confirmed, a durable reply queue with manual
 * acks.
 */
export function plainEcho({ name, isBatched }: PlainEchoOptions): Contender {
  const requests = `tool.invoke.${name}`;
  const replies = `tool.result.${name}`;
  const open = async (amqpUrl: string, options: Omit<Parameters<typeof openPlainChannel>[1], "exchange">) => {
    const opened = await openPlainChannel(amqpUrl, { exchange: name, ...options });
    if (isBatched) writeOnceATurn(opened.connection);
    return {
      ...opened,
      ack: isBatched ? ackTogether(opened.channel) : (message: ConsumeMessage) => opened.channel.ack(message),
    };
  };
  return {
    async serve({ amqpUrl }) {
      const queueOptions = { arguments: { "x-queue-type": "quorum" } };
      const { connection, channel, ack } = await open(amqpUrl, { prefetch: PREFETCH, queue: requests, queueOptions });
      await channel.consume(requests, (message) => {
        if (message === null) return;
        const { id, payload } = JSON.parse(message.content.toString()) as {
          readonly id: string;
          readonly payload: Payload;
        };
        const { replyTo, correlationId } = message.properties as {
          readonly replyTo: string;
          readonly correlationId: string;
        };
        channel.publish(
          name,
          replyTo,
          Buffer.from(JSON.stringify({ id, payload })),
          { persistent: true, correlationId },
          (error: Error | null) => {
            if (error === null) ack(message);
            else channel.nack(message);
          },
        );
      });
      return { [Symbol.asyncDispose]: () => connection.close() };
    },

    async connect({ amqpUrl }): Promise<Caller> {
      const { connection, channel, ack } = await open(amqpUrl, {
        prefetch: 2 * PREFETCH,
        queue: replies,
        queueOptions: { expires: 600_000 },
      });
      const pending = new Map<string, (payload: Payload) => void>();
      await channel.consume(replies, (message) => {
        if (message === null) return;
        const { payload } = JSON.parse(message.content.toString()) as { readonly payload: Payload };
        const { correlationId } = message.properties as { readonly correlationId: string };
        pending.get(correlationId)?.(payload);
        pending.delete(correlationId);
        ack(message);
      });
      return {
        call: (payload) =>
          new Promise((resolve, reject) => {
            const id = randomUUID();
            pending.set(id, resolve);
            const properties = { persistent: true, correlationId: id, messageId: id, replyTo: replies };
            channel.publish(
              name,
              requests,
              Buffer.from(JSON.stringify({ id, payload })),
              properties,
              (error: Error | null) => {
                if (error !== null) reject(error);
              },
            );
          }),
        [Symbol.asyncDispose]: () => connection.close(),
      };
    },
  };
}

/** Has the socket keep what is written until the turn of the event loop is over. */
function writeOnceATurn(connection: ChannelModel): void {
  const { stream } = (connection as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const write = stream.write.bind(stream);
  let isCorked = false;
  stream.write = ((...args: Parameters<Socket["write"]>) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      setImmediate(() => {
        isCorked = false;
        stream.uncork();
      });
    }
    return write(...args);
  }) as Socket["write"];
}

/** Acks at the end of a turn all messages up to the first that is not done. */
function ackTogether(channel: ConfirmChannel): (message: ConsumeMessage) => void {
  const done = new Map<number, ConsumeMessage>();
  let next = 1;
  let isDue = false;
  function ackDone(): void {
    isDue = false;
    let last: ConsumeMessage | undefined;
    for (let message = done.get(next); message !== undefined; message = done.get(next)) {
      last = message;
      done.delete(next++);
    }
    if (last !== undefined) channel.ack(last, true);
  }
  return (message) => {
    done.set(message.fields.deliveryTag, message);
    if (isDue) return;
    isDue = true;
    setImmediate(ackDone);
  };
}

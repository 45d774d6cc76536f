import { type ChannelModel, type ConfirmChannel, connect, type Options } from "amqplib";

export interface PlainChannelOptions {
  readonly exchange: string;
  readonly prefetch: number;
  /** Bound to the exchange under its own name. */
  readonly queue: string;
  readonly queueOptions: Options.AssertQueue;
}

/**
 * Plain amqplib, ready to consume a durable queue and to publish with confirms: `noDelay`, a durable topic exchange.
 */
export async function openPlainChannel(
  amqpUrl: string,
  { exchange, prefetch, queue, queueOptions }: PlainChannelOptions,
): Promise<{ readonly connection: ChannelModel; readonly channel: ConfirmChannel }> {
  const connection = await connect(amqpUrl, { noDelay: true });
  const channel = await connection.createConfirmChannel();
  await channel.prefetch(prefetch);
  await channel.assertExchange(exchange, "topic", { durable: true });
  await channel.assertQueue(queue, { durable: true, ...queueOptions });
  await channel.bindQueue(queue, exchange, queue);
  return { connection, channel };
}

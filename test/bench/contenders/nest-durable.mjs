import { connectNest, serveNest } from "./nest-options.mjs";

/**
 * Nest's RabbitMQ transport with a quorum queue and persistent messages, acked in the handler: before the reply is
 * written, as Nest's guide shows.
 */
const options = {
  queue: "bench-nest-durable",
  queueOptions: { durable: true, arguments: { "x-queue-type": "quorum" } },
  persistent: true,
};

export const serve = ({ amqpUrl }) =>
  serveNest(amqpUrl, { ...options, noAck: false }, (context) => context.getChannelRef().ack(context.getMessage()));
export const connect = ({ amqpUrl }) => connectNest(amqpUrl, options);

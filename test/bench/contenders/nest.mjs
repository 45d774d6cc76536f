import { connectNest, serveNest } from "./nest-options.mjs";

/** Nest's RabbitMQ transport as it comes: transient messages, no acks. */
const options = { queue: "bench-nest", queueOptions: { durable: false } };

export const serve = ({ amqpUrl }) => serveNest(amqpUrl, options);
export const connect = ({ amqpUrl }) => connectNest(amqpUrl, options);

import { randomUUID } from "node:crypto";
import rascal from "rascal";
import { PREFETCH } from "../contender.ts";

const EXCHANGE = "bench-rascal";
const REQUESTS = "tool.invoke.bench-rascal";
const REPLIES = "tool.result.bench-rascal";
/** The number with the most calls among those that were tried (1, 4, 16, 64). */
const CHANNELS = 16;

/** rascal with the guarantees of amqplib-same: it confirms and persists by default. */
function brokerOf(amqpUrl, { queue, options, prefetch }) {
  return rascal.BrokerAsPromised.create(
    rascal.withDefaultConfig({
      vhosts: {
        "/": {
          connection: { url: amqpUrl, socketOptions: { noDelay: true } },
          // As it comes it has one channel for each message being published, and makes five more at a time, with a
          // pause between.
          publicationChannelPools: { confirmPool: { autostart: true, min: CHANNELS, max: CHANNELS } },
          exchanges: { [EXCHANGE]: { type: "topic" } },
          queues: { [queue]: { options } },
          bindings: { here: { source: EXCHANGE, destination: queue, destinationType: "queue", bindingKey: queue } },
          publications: { out: { exchange: EXCHANGE, confirm: true } },
          subscriptions: { in: { queue, prefetch } },
        },
      },
    }),
  );
}

async function publish(broker, body, overrides) {
  const publication = await broker.publish("out", body, overrides);
  await new Promise((resolve, reject) => publication.once("success", resolve).once("error", reject));
}

export async function serve({ amqpUrl }) {
  const broker = await brokerOf(amqpUrl, {
    queue: REQUESTS,
    options: { durable: true, arguments: { "x-queue-type": "quorum" } },
    prefetch: PREFETCH,
  });
  broker.on("error", () => {});
  const subscription = await broker.subscribe("in");
  subscription.on("message", (message, { id, payload }, ackOrNack) => {
    const { correlationId, replyTo } = message.properties;
    publish(broker, { id, payload }, { routingKey: replyTo, options: { persistent: true, correlationId } }).then(
      () => ackOrNack(),
      ackOrNack,
    );
  });
  return { [Symbol.asyncDispose]: () => broker.shutdown() };
}

export async function connect({ amqpUrl }) {
  const broker = await brokerOf(amqpUrl, {
    queue: REPLIES,
    options: { durable: true, expires: 600_000 },
    prefetch: 2 * PREFETCH,
  });
  broker.on("error", () => {});
  const pending = new Map();
  const subscription = await broker.subscribe("in");
  subscription.on("message", (message, { payload }, ackOrNack) => {
    const { correlationId } = message.properties;
    pending.get(correlationId)?.(payload);
    pending.delete(correlationId);
    ackOrNack();
  });
  return {
    call: (payload) =>
      new Promise((resolve, reject) => {
        const id = randomUUID();
        pending.set(id, resolve);
        const options = { persistent: true, correlationId: id, messageId: id, replyTo: REPLIES };
        publish(broker, { id, payload }, { routingKey: REQUESTS, options }).catch(reject);
      }),
    [Symbol.asyncDispose]: () => broker.shutdown(),
  };
}

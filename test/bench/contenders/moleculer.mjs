import { ServiceBroker } from "moleculer";
import { PREFETCH } from "../contender.ts";

/**
 * Moleculer's AMQP transport with persistent messages, and the prefetch of the others: as it comes it has one of 1. It
 * never confirms.
 */
async function start(amqpUrl, nodeID) {
  const transporter = {
    type: "AMQP",
    options: {
      url: amqpUrl,
      prefetch: PREFETCH,
      socketOptions: { noDelay: true },
      messageOptions: { persistent: true },
      queueOptions: { durable: true },
    },
  };
  return new ServiceBroker({ namespace: "bench", nodeID, logger: false, transporter });
}

export async function serve({ amqpUrl }) {
  const broker = await start(amqpUrl, "service");
  broker.createService({
    name: "bench",
    actions: {
      echo: {
        params: { text: { type: "string", optional: true }, rows: { type: "array", optional: true } },
        handler: ({ params }) => params,
      },
    },
  });
  await broker.start();
  return { [Symbol.asyncDispose]: () => broker.stop() };
}

export async function connect({ amqpUrl }) {
  const broker = await start(amqpUrl, "caller");
  await broker.start();
  await broker.waitForServices("bench", 20_000);
  return { call: (payload) => broker.call("bench.echo", payload), [Symbol.asyncDispose]: () => broker.stop() };
}

import { randomUUID } from "node:crypto";
import { type Channel, type ConsumeMessage, connect, type Options } from "amqplib";

/** A message as it lies in a queue, with its body read. */
export interface RawMessage {
  readonly type: string;
  readonly properties: ConsumeMessage["properties"];
  readonly body: Record<string, unknown>;
}

export interface OriginalAgent extends AsyncDisposable {
  /** All that came for the agent, in its order. */
  readonly received: readonly RawMessage[];
  /** Publishes as the original does, and forgets: there is no confirm, and nothing is mandatory. */
  publish(
    topic: string,
    type: string,
    body: object,
    more?: { correlationId?: string; replyTo?: string; headers?: Record<string, string> },
  ): void;
  /** Publishes with a new correlation id, and resolves to what comes back with it. */
  ask(
    topic: string,
    type: string,
    body: object,
    more: { replyTo: string; headers?: Record<string, string> },
  ): Promise<RawMessage>;
}

/**
 * The agent of the .NET original at its end of the bus, made from what the wire contract says of it, of amqplib alone:
 * its exchanges, queues and bindings, its properties and doubled headers, its bodies. Nothing of ours is imported.
 */
export async function startOriginalAgent(url: string, name: string): Promise<OriginalAgent> {
  const connection = await connect(url);
  connection.on("error", () => {});
  const channel = await connection.createChannel();
  await channel.assertExchange("rockbot", "topic", { durable: true });
  await channel.assertExchange("rockbot.dlx", "topic", { durable: true });
  await channel.prefetch(10);
  const received: RawMessage[] = [];
  const waiting = new Map<string, (message: RawMessage) => void>();
  const take = (message: ConsumeMessage | null): void => {
    if (message === null) return;
    const raw = {
      type: String(message.properties.type),
      properties: message.properties,
      body: JSON.parse(message.content.toString()) as Record<string, unknown>,
    };
    received.push(raw);
    waiting.get(String(message.properties.correlationId))?.(raw);
    channel.ack(message);
  };
  for (const [subscription, topic] of [
    [`mcp-proxy.${name}`, `tool.result.${name}`],
    [`mcp-management.${name}`, `mcp.manage.response.${name}`],
    [`${name}.tool-meta-mcp-${name}`, `tool.meta.mcp.${name}`],
  ] as const)
    await subscribe(channel, subscription, topic, take);

  const publish: OriginalAgent["publish"] = (
    topic,
    type,
    body,
    { correlationId = "", replyTo = "", headers = {} } = {},
  ) => {
    const properties: Options.Publish = {
      messageId: randomUUID().replaceAll("-", ""),
      type,
      correlationId,
      replyTo,
      timestamp: Math.floor(Date.now() / 1000),
      contentType: "application/json",
      deliveryMode: 2,
      headers: { "rb-source": name, ...headers },
    };
    channel.publish("rockbot", topic, Buffer.from(JSON.stringify(body)), properties);
  };
  return {
    received,
    publish,
    ask(topic, type, body, more) {
      const correlationId = randomUUID().replaceAll("-", "");
      const { promise, resolve, reject } = Promise.withResolvers<RawMessage>();
      const timer = setTimeout(() => reject(new Error(`no answer to ${type} within 30 s`)), 30_000);
      waiting.set(correlationId, resolve);
      publish(topic, type, body, { ...more, correlationId });
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(correlationId);
      });
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
    },
  };
}

/** A queue and its dead-letter queue, with exactly the arguments that the original gives them. */
async function subscribe(
  channel: Channel,
  subscription: string,
  topic: string,
  take: (message: ConsumeMessage | null) => void,
): Promise<void> {
  const queue = `rockbot.${subscription}`;
  await channel.assertQueue(`${queue}.dlq`, { durable: true });
  await channel.bindQueue(`${queue}.dlq`, "rockbot.dlx", topic);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: { "x-dead-letter-exchange": "rockbot.dlx", "x-dead-letter-routing-key": topic },
  });
  await channel.bindQueue(queue, "rockbot", topic);
  await channel.consume(queue, take);
}

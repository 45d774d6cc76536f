import { randomBytes } from "node:crypto";
import { within } from "@rockbot/base";
import { type Channel, type ConfirmChannel, connect, type Options } from "amqplib";
import { NOT_FOUND } from "./connection/refusal.ts";
import { DEAD_LETTER_EXCHANGE, EXCHANGE, type PlannedQueue } from "./queue-plan.ts";
import { onScratchChannel } from "./topology.ts";

/** A message as it came, with all that its sender wrote. */
export interface PeerMessage {
  readonly topic: string;
  /** The AMQP properties, by amqplib's names. */
  readonly properties: Readonly<Record<string, unknown>> & {
    readonly headers?: Readonly<Record<string, unknown>> | undefined;
  };
  readonly body: Buffer;
  /** The time of receipt, on the clock of `performance.now()`. */
  readonly receivedAt: number;
}

/** The AMQP properties of a message, by amqplib's names. */
export type PeerProperties = Options.Publish;

/**
 * A peer on the broker that is no bus: it writes what a bus would not, and sees what a bus would not show. For trying
 * services of others.
 */
export interface Peer extends AsyncDisposable {
  /**
   * Resolves once the broker has confirmed.
   * @returns whether a queue took the message
   * @throws {Error} if the broker does not answer
   */
  publish(topic: string, body: Uint8Array, properties: PeerProperties): Promise<boolean>;
  /**
   * Hands all that is published to the topics from now on to `onMessage`.
   * @param queue others see its consumer under this name; it goes with the peer
   */
  listen(topics: readonly string[], onMessage: (message: PeerMessage) => void, queue?: string): Promise<void>;
  /** The numbers of messages that wait in a queue and of its consumers; undefined if there is no such queue. */
  look(queue: string): Promise<{ readonly messages: number; readonly consumers: number } | undefined>;
  /** Why a queue is not as planned, in the broker's words; undefined if it is. */
  faultOf(queue: PlannedQueue): Promise<string | undefined>;
}

/** The broker has this long for each answer. */
const ANSWER_MS = 10_000;

/** @throws {Error} if the broker cannot be reached, or refuses */
export async function connectPeer(url: string): Promise<Peer> {
  const opening = connect(url, { noDelay: true, timeout: ANSWER_MS }).then((opened) => opened.on("error", () => {})); // what is asked next says it
  const connection = await within(ANSWER_MS, opening, () => new Error(`no answer within ${ANSWER_MS} ms`));
  const openChannel = async (): Promise<Channel> => (await connection.createChannel()).on("error", () => {});
  const onChannel = <T>(work: (channel: Channel) => Promise<T>): Promise<T> =>
    within(ANSWER_MS, onScratchChannel({ openChannel }, work), noAnswer);
  await onChannel(async (channel) => {
    for (const exchange of [EXCHANGE, DEAD_LETTER_EXCHANGE])
      await channel.assertExchange(exchange, "topic", { durable: true });
  });
  const sending = await connection.createConfirmChannel();
  sending.on("error", () => {});
  const returned = new Set<unknown>();
  sending.on("return", ({ properties }) => returned.add(properties.headers?.[MARK]));
  return {
    publish: (topic, body, properties) => publish(sending, returned, { topic, body, properties }),
    async listen(topics, onMessage, name = "") {
      const channel = await openChannel();
      const { queue } = await channel.assertQueue(name, {
        exclusive: name === "",
        autoDelete: true,
        durable: name !== "",
      });
      for (const topic of topics) await channel.bindQueue(queue, EXCHANGE, topic);
      const receive = channel.consume(
        queue,
        (message) => {
          if (message === null) return;
          onMessage({
            topic: message.fields.routingKey,
            properties: { ...message.properties },
            body: message.content,
            receivedAt: performance.now(),
          });
        },
        { noAck: true },
      );
      await within(ANSWER_MS, Promise.resolve(receive), noAnswer);
    },
    look: (queue) =>
      onChannel(async (channel) => {
        const { messageCount, consumerCount } = await channel.checkQueue(queue);
        return { messages: messageCount, consumers: consumerCount };
      }).catch(unlessMissing),
    faultOf: (queue) =>
      onChannel(async (channel) => {
        await channel.checkQueue(queue.name); // what is missing is not made
        await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments });
        return undefined;
      }).catch((error: Error & { readonly code?: unknown }) => {
        if (error.code === undefined) throw error;
        return error.code === NOT_FOUND
          ? "there is no such queue"
          : error.message.replace(/^.*?PRECONDITION_FAILED - /, "");
      }),
    async [Symbol.asyncDispose]() {
      await within(ANSWER_MS, connection.close(), noAnswer).catch(() => {});
    },
  };
}

/** The broker names a message that came back by nothing but its properties. */
const MARK = "x-peer-mark";

const noAnswer = (): Error => new Error(`the broker has not answered within ${ANSWER_MS} ms`);

async function publish(
  channel: ConfirmChannel,
  returned: Set<unknown>,
  {
    topic,
    body,
    properties,
  }: { readonly topic: string; readonly body: Uint8Array; readonly properties: PeerProperties },
): Promise<boolean> {
  const mark = randomBytes(8).toString("hex");
  const confirmed = Promise.withResolvers<void>();
  const marked = { ...properties, mandatory: true, headers: { ...properties.headers, [MARK]: mark } };
  channel.publish(EXCHANGE, topic, Buffer.from(body), marked, (error: unknown) =>
    error === null ? confirmed.resolve() : confirmed.reject(error),
  );
  await within(ANSWER_MS, confirmed.promise, noAnswer);
  return !returned.delete(mark); // a return comes before its confirm
}

function unlessMissing(error: Error & { readonly code?: unknown }): undefined {
  if (error.code !== NOT_FOUND) throw error;
}

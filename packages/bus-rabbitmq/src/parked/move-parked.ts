import { reasonOf } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import type { Channel } from "amqplib";
import type { Link } from "../connection/link.ts";
import type { Publisher } from "../publish/publisher.ts";
import { DEAD_LETTER_EXCHANGE, oldParkedName, queueName } from "../queue-plan.ts";
import { look, onScratchChannel } from "../topology.ts";
import { deadLetterProperties, readParked } from "./dead-letter.ts";

export interface MoveParkedOptions {
  readonly subscription: string;
  /** The user that we publish as, if the broker verifies that. */
  readonly user: string | undefined;
  readonly log: Logger;
}

const PUBLISH_TIMEOUT_MS = 10_000;

/**
 * Moves parked messages from an earlier queue to that of now, one after the other, and deletes the queue once it is
 * empty. Nobody waits for it: while the queue does not answer, as its node is down, nothing is moved. Never rejects.
 */
export async function moveParked(
  link: Link,
  publisher: Publisher,
  { subscription, user, log }: MoveParkedOptions,
): Promise<void> {
  const from = oldParkedName(subscription);
  try {
    if ((await look(link, from)) === undefined) return;
    await onScratchChannel(link, async (channel) => {
      await link.answer("queue.unbind", channel.unbindQueue(from, DEAD_LETTER_EXCHANGE, from));
      const moved = await moveAll(link, channel, publisher, { subscription, user });
      await link.answer("queue.delete", channel.deleteQueue(from, { ifEmpty: true }));
      log.info({ from, moved }, "moved parked messages to their new queue");
    });
  } catch (error) {
    if (!link.signal.aborted)
      log.warn({ from, reason: reasonOf(error) }, "could not move parked messages to their new queue yet");
  }
}

async function moveAll(
  link: Link,
  channel: Channel,
  publisher: Publisher,
  { subscription, user }: Pick<MoveParkedOptions, "subscription" | "user">,
): Promise<number> {
  for (let moved = 0; ; moved++) {
    const message = await link.answer("basic.get", channel.get(oldParkedName(subscription)));
    if (message === false) return moved;
    const { message: envelope, reason, why, parkedAt } = readParked(message, subscription);
    await publisher.publish({
      exchange: DEAD_LETTER_EXCHANGE,
      routingKey: queueName(subscription, "parked"),
      body: message.content,
      properties: {
        ...deadLetterProperties(message, envelope, queueName(subscription), reason, why, parkedAt),
        ...(user === undefined ? {} : { userId: user }),
      },
      mandatory: true,
      timeoutMs: PUBLISH_TIMEOUT_MS,
    });
    channel.ack(message);
  }
}

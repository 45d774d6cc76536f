import { pause, reasonOf } from "@rockbot/base";
import { BusUnavailableError, type ParkedVisitor, type VisitParkedOptions } from "@rockbot/bus";
import type { Link } from "../connection/link.ts";
import { NOT_FOUND } from "../connection/refusal.ts";
import { queueName } from "../queue-plan.ts";
import { look } from "../topology.ts";
import { readParked } from "./dead-letter.ts";

/** The time that the broker may take to put back the messages that were looked at. */
const GIVEN_BACK_MS = 2_000;
const LOOK_EVERY_MS = 10;

/**
 * Visits messages as Bus.visitParked promises. Messages are fetched one by one on a channel of their own, and messages
 * that are not removed stay unacknowledged until that channel is closed. Then the broker puts all of them back where
 * they were, as it does when we die.
 */
export async function visitParked(
  link: Link,
  name: string,
  visit: ParkedVisitor,
  { limit = Number.POSITIVE_INFINITY, signal }: VisitParkedOptions,
): Promise<number | undefined> {
  const queue = queueName(name, "parked");
  const ask = async <T>(what: string, answer: () => Promise<T>): Promise<T> => {
    try {
      return await link.answer(what, answer());
    } catch (error) {
      throw new BusUnavailableError(
        `Cannot look at the parked messages of "${name}": ${reasonOf(error)}. What was removed so far is gone, all else is kept`,
        {
          cause: error,
        },
      );
    }
  };
  const channel = await ask("channel.open", () => link.openChannel());
  let shown = 0;
  let kept = 0;
  let last = limit;
  try {
    while (shown < last) {
      signal?.throwIfAborted();
      const message = await ask("basic.get", async () => channel.get(queue));
      if (message === false) break;
      // Messages that are parked during the visit are not part of it: a message played again may come back.
      if (shown === 0) last = Math.min(limit, message.fields.messageCount + 1);
      shown++;
      kept++;
      if ((await visit(readParked(message, name))) !== "remove") continue;
      await ask("basic.ack", async () => channel.ack(message));
      kept--;
    }
  } catch (error) {
    if (shown === 0 && ((error as Error).cause as { readonly code?: unknown } | undefined)?.code === NOT_FOUND)
      return undefined;
    throw error;
  } finally {
    // Waited for: the next visit is to find the messages that were given back. Fails if the broker has closed the
    // channel already.
    await link.answer("channel.close", (async () => channel.close())()).catch(() => {});
    await untilThere(link, queue, kept);
  }
  return shown;
}

/**
 * A quorum queue has back what a channel held a moment after that is closed; it may be less, if somebody else removes
 * some meanwhile.
 */
async function untilThere(link: Link, queue: string, count: number): Promise<void> {
  const end = performance.now() + GIVEN_BACK_MS;
  while (count > 0 && !link.signal.aborted && performance.now() < end) {
    const messages = await look(link, queue).catch(() => undefined);
    if (messages === undefined || messages >= count) return;
    await pause(LOOK_EVERY_MS);
  }
}

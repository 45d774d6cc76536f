import { matchesTopic } from "@rockbot/bus";
import { deathsOf } from "../parked/dead-letter.ts";
import type { IncomingMessage } from "../wire/read-frames.ts";

type Readable = Pick<IncomingMessage, "properties"> & {
  readonly fields: Pick<IncomingMessage["fields"], "routingKey">;
};

/*
 * Two ways lead past the topics that a broker grants a user. One is a queue of the user's own whose dead letters go to any key of an exchange, on all
 * versions. The other is further keys in the headers CC and BCC, on RabbitMQ 3. The sender's name stays true on both, and so do the traces that give
 * such a message away here.
 */

/**
 * Tells whether its sender published the message to one of these topics.
 * @param lane the queue of the service's fast lane, out of which the broker moves what has no room there
 */
export function isStraight({ fields, properties }: Readable, topics: readonly string[], lane?: string): boolean {
  const deaths = deathsOf(properties.headers);
  const isOfLane = lane !== undefined && deaths.every(({ queue }) => queue === lane);
  return (deaths.length === 0 || isOfLane) && topics.some((topic) => matchesTopic(topic, fields.routingKey));
}

/** Tells whether the service itself has put the message back into its main queue, by that queue's name. */
export const isPutBack = ({ fields, properties }: Readable, queue: string, user: string): boolean =>
  fields.routingKey === queue && properties.userId === user && deathsOf(properties.headers).length === 0;

/**
 * Tells whether the message came to a queue for dead letters from one of the service's own. The broker moved it, or the
 * service itself published it.
 * @param user the user that the service publishes as
 * @param own the names of its queues
 */
export function isOwnDeadLetter(
  { fields, properties }: Readable,
  queue: string,
  user: string,
  own: readonly string[],
): boolean {
  if (fields.routingKey !== queue) return false;
  const [last] = deathsOf(properties.headers);
  return last === undefined ? properties.userId === user : own.includes(String(last["queue"]));
}

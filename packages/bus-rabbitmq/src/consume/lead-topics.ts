import type { Link } from "../connection/link.ts";
import { mainNames, type QueueVersions } from "../queue-plan.ts";
import { bind, onScratchChannel, stateOf, unbind } from "../topology.ts";

export interface LeadTopicsOptions {
  readonly subscription: string;
  readonly topics: readonly string[];
  readonly versions: QueueVersions;
  /** The retired queues that are there. */
  readonly retired: readonly string[];
}

/**
 * Leads the topics of a service to one of its main queues while those of two releases are there. Each instance of a
 * release consumes the queues of its own version and of those before. So a retired queue with more consumers than the
 * queue of now has instances of an earlier release, which take from no other: it gets the topics then. Else the queue
 * of now gets them. A roll-back is the same the other way round. The new binding is there before the old one goes: a
 * request in between comes to both queues, and is one call, as its claim says. What waits in a queue without topics its
 * consumers take.
 * @returns the queue that gets the topics; undefined if they stay where they lead
 * @throws {Error} if the broker refuses, or the connection is lost
 */
export async function leadTopics(
  link: Link,
  { subscription, topics, versions, retired }: LeadTopicsOptions,
): Promise<string | undefined> {
  const [main = ""] = mainNames(subscription, versions);
  const consumers = new Map<string, number>();
  for (const queue of [main, ...retired]) consumers.set(queue, (await stateOf(link, queue))?.consumers ?? 0);
  const most = Math.max(...consumers.values());
  if (most === 0) return undefined; // the last one leaves, or the broker has not heard from the queues
  const target = [main, ...retired].find((queue) => consumers.get(queue) === most) ?? main;
  await onScratchChannel(link, (channel) => bind(link, channel, target, topics));
  for (const queue of consumers.keys()) if (queue !== target) await unbind(link, queue, topics);
  return target;
}

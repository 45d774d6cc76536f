import type { BusTraits } from "@rockbot/bus";
import { agentTopics, type Envelope, isUserReplyTopic, isUserReplyTopicOf } from "@rockbot/contracts";

/**
 * Where replies to a message go. Where senders are verified, that is a topic of the sender's own, also for one that
 * asks for the shared topic, as programs of the .NET original do.
 * @param name the sender, as the bus knows it
 * @returns undefined if the message names a topic that its sender may not hear, or none that replies may go to
 */
export function replyAddress(
  { replyTo = agentTopics.response, userId }: Envelope,
  name: string,
  { verifiesSender }: BusTraits,
): string | undefined {
  if (!verifiesSender) return isUserReplyTopic(replyTo) ? replyTo : undefined;
  if (isUserReplyTopicOf(name, replyTo)) return replyTo;
  if (replyTo !== agentTopics.response) return undefined;
  return userId === undefined ? replyTo : ownAddress(name);
}

/** The topic of a user that is one process. */
export const ownAddress = (name: string): string => `${agentTopics.response}.${name}`;

import { startLoop } from "@rockbot/base";
import { version } from "@rockbot/base/version";
import type { Bus, Logger } from "@rockbot/bus";
import { createEnvelope, decodeMessage, encodeMessage, messages, taskTopics } from "@rockbot/contracts";

/** An agent that takes tasks over the bus. */
export interface ServedAgent {
  /** The word of its topics. */
  readonly name: string;
  /** The definition that answers; undefined of the plain agent. */
  readonly definition: string | undefined;
}

export interface AnnounceAgentsOptions {
  readonly log: Logger;
  /** @default 120_000, as of the .NET original */
  readonly everyMs?: number | undefined;
}

/** The id of the one skill of each agent here. */
export const CHAT_SKILL = "chat";
const EVERY_MS = 120_000;
/** A card is of no use once the next ones have come. */
const TTL_MS = 3 * EVERY_MS;

/**
 * Announces agents until it is disposed of, and takes them back then. Instances announce the same ones: when one of
 * them ends, those that go on announce at once that the agents are still there. A card says nothing but the agent's
 * name, as strangers read it.
 */
export async function announceAgents(
  bus: Bus,
  agents: readonly ServedAgent[],
  { log, everyMs = EVERY_MS }: AnnounceAgentsOptions,
): Promise<AsyncDisposable> {
  let isEnding = false;
  const announce = async (some: readonly ServedAgent[], isDeregistering: boolean): Promise<void> => {
    for (const { name } of some) await bus.publish(cardOf(name, isDeregistering));
  };
  const tryTo = (some: readonly ServedAgent[], isDeregistering = false): Promise<void> =>
    announce(some, isDeregistering).catch((error: unknown) =>
      log.warn({ reason: String(error) }, "could not announce the agents that take tasks on the bus"),
    );
  const listening = await bus.subscribe(
    { name: "agents", topics: [taskTopics.announce], kind: "copy" },
    async ({ body }) => {
      const card = decodeMessage("AgentCard", body);
      if (!card.ok || card.value.isDeregistering !== true || isEnding) return;
      const gone = card.value.agentName.toLowerCase();
      await tryTo(agents.filter(({ name }) => name.toLowerCase() === gone));
    },
  );
  const loop = startLoop(everyMs, () => tryTo(agents));
  return {
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await loop[Symbol.asyncDispose]();
      await listening[Symbol.asyncDispose]();
      await tryTo(agents, true);
    },
  };
}

function cardOf(agentName: string, isDeregistering: boolean) {
  const description = "Answers messages with a model and the tools that its caller may use.";
  const skill = {
    id: CHAT_SKILL,
    name: "Chat",
    description: "Answer a message, or do what it asks for.",
    tags: null,
    examples: null,
  };
  const body = encodeMessage("AgentCard", { agentName, description, version, skills: [skill], isDeregistering });
  return createEnvelope({
    topic: taskTopics.announce,
    type: messages.AgentCard.type,
    source: agentName,
    ttlMs: TTL_MS,
    body,
  });
}

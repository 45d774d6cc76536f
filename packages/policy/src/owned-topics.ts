import { AGENT_SHORT_SUBSCRIPTION, AGENT_USER_SUBSCRIPTION, agentTopics, MCP_MANAGE_SUBSCRIPTION, mcpTopics } from "@rockbot/contracts";
import type { PolicyService } from "./generated/policy.ts";

/** A topic that one service hears, and what goes with it. `*` is any one word, as in BusRights. */
export interface OwnedTopic {
  readonly topic: string;
  /** The subscription that the owner's instances share; undefined if each of them hears all. */
  readonly subscription?: string | undefined;
  /** Below these the owner answers, as services do below `replyRoots`. */
  readonly replies: readonly string[];
  /** Where the owner tells a caller what nobody has asked for: of a user of the bus, and of the caller that a call runs for. */
  readonly tells?: ((user: string, caller: string) => string) | undefined;
  /** What the owner's instances say to each other. */
  readonly among: readonly string[];
}

type Companions = Partial<Omit<OwnedTopic, "topic">>;

const known = new Map<string, Companions>([
  [mcpTopics.manage, { subscription: MCP_MANAGE_SUBSCRIPTION, among: [mcpTopics.owner("*"), mcpTopics.handedOver("*")] }],
  [mcpTopics.refresh, { tells: mcpTopics.index }],
  [
    agentTopics.message,
    {
      subscription: AGENT_USER_SUBSCRIPTION,
      replies: [agentTopics.response],
      tells: (_, caller) => `agent.event.${caller}.*`,
      among: [agentTopics.helperProgress, agentTopics.helperResult],
    },
  ],
  [agentTopics.short, { subscription: AGENT_SHORT_SUBSCRIPTION }],
  [agentTopics.feedback, { subscription: AGENT_USER_SUBSCRIPTION }],
  [agentTopics.historyRequest, { subscription: AGENT_USER_SUBSCRIPTION, replies: ["user.history.response"] }],
]);

/** What services of RockBot own, by the topic of their calls. */
const byDefault = new Map<string, readonly string[]>([
  [mcpTopics.invoke, [mcpTopics.manage, mcpTopics.refresh]],
  [agentTopics.invoke, [agentTopics.message, agentTopics.feedback, agentTopics.historyRequest]],
]);

/** Further topics of its calls, whatever its entry owns. */
const further = new Map<string, readonly string[]>([[agentTopics.invoke, [agentTopics.short]]]);

/** The topics that a service alone hears besides that of its calls. */
export function ownedTopics(service: string, { topic: invoke, owns }: Pick<PolicyService, "topic" | "owns">): OwnedTopic[] {
  const topics = new Set([...(further.get(invoke) ?? []), ...(owns ?? byDefault.get(invoke) ?? [])]);
  return [...topics].map((topic) => ({ topic, replies: [], among: [], ...(known.get(topic) ?? { subscription: `${service}.${topic.split(".").at(-1)}` }) }));
}

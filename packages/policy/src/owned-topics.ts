import {
  AGENT_SHORT_SUBSCRIPTION,
  AGENT_TASK_SUBSCRIPTION,
  AGENT_USER_SUBSCRIPTION,
  agentOfTaskTopic,
  agentTopics,
  MCP_MANAGE_SUBSCRIPTION,
  mcpTopics,
  taskTopics,
} from "@rockbot/contracts";
import type { PolicyService } from "./generated/policy.ts";

/** A topic that one service hears, and what goes with it. `*` is any one word, as in BusRights. */
export interface OwnedTopic {
  readonly topic: string;
  /** The subscription that the owner's instances share; undefined if each of them hears all. */
  readonly subscription?: string | undefined;
  /** Below these the owner answers, as services do below `replyRoots`. */
  readonly replies: readonly string[];
  /**
   * Where the owner tells a caller what nobody has asked for: of a user of the bus, and of the caller that a call runs
   * for.
   */
  readonly tells?: ((user: string, caller: string) => string) | undefined;
  /** What the owner tells all who may ask it. */
  readonly broadcasts?: readonly string[] | undefined;
  /** What the owner's instances say to each other. */
  readonly among: readonly string[];
}

type Companions = Partial<Omit<OwnedTopic, "topic">>;

const known = new Map<string, Companions>([
  [
    mcpTopics.manage,
    { subscription: MCP_MANAGE_SUBSCRIPTION, among: [mcpTopics.owner("*"), mcpTopics.handedOver("*")] },
  ],
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

/** The topic of the service that gives tasks to agents on the bus. */
const TASK_GIVER = "tool.invoke.a2a";

/** True if the service may give tasks to every agent on the bus, whatever tools those have. */
export const givesTasks = ({ topic }: Pick<PolicyService, "topic">): boolean => topic === TASK_GIVER;

/** True if the service is an agent on the bus and nothing else: it offers no tools. */
export const isBusAgent = ({ topic }: Pick<PolicyService, "topic">): boolean => agentOfTaskTopic(topic) !== undefined;

/** The topics that a service alone hears besides that of its calls; of an agent on the bus also that of its tasks. */
export function ownedTopics(
  service: string,
  { topic: invoke, owns }: Pick<PolicyService, "topic" | "owns">,
): OwnedTopic[] {
  const own = isBusAgent({ topic: invoke }) ? [invoke] : [];
  const topics = [...new Set([...own, ...(further.get(invoke) ?? []), ...(owns ?? byDefault.get(invoke) ?? [])])];
  const taken = topics.map((topic) => ({ topic, replies: [], among: [], ...companionsOf(service, invoke, topic) }));
  const cancels = topics.flatMap((topic): OwnedTopic[] => {
    const agent = agentOfTaskTopic(topic);
    return agent === undefined ? [] : [{ topic: taskTopics.cancel(agent), replies: [], among: [] }];
  });
  return [...taken, ...cancels];
}

function companionsOf(service: string, invoke: string, topic: string): Companions {
  const subscription = `${service}.${topic.split(".").at(-1)}`;
  if (agentOfTaskTopic(topic) === undefined) return known.get(topic) ?? { subscription };
  return {
    subscription: invoke === agentTopics.invoke ? AGENT_TASK_SUBSCRIPTION : service,
    replies: [taskTopics.response],
    broadcasts: [taskTopics.status, taskTopics.announce],
    among: [taskTopics.announce],
  };
}

import { createHash } from "node:crypto";
import { isPeerName } from "../names.ts";

/** The service that runs the agent. */
export const AGENT = "agent";

/** The subscription that takes what users send. The dot keeps it apart from the names of services. */
export const AGENT_USER_SUBSCRIPTION = `${AGENT}.user`;

/** The subscription that takes calls which are no turns. Turns wait for some of them. */
export const AGENT_SHORT_SUBSCRIPTION = `${AGENT}-short`;

/** The subscription that takes tasks of agents on the bus, and asks to cancel them. */
export const AGENT_TASK_SUBSCRIPTION = `${AGENT}.task`;

/** Its topics. Topics of users are of the .NET original. */
export const agentTopics = {
  invoke: "tool.invoke.agent",
  /** Calls of the agent's tools that are no turns. */
  short: "tool.invoke.agent-short",
  message: "user.message",
  feedback: "user.feedback",
  historyRequest: "user.history.request",
  /** Where replies go that were asked for nowhere else. A sender's own topic is below it. */
  response: "user.response",
  helperProgress: "subagent.progress",
  helperResult: "subagent.result",
  /** What happens in a session of a caller. */
  event: (caller: string, sessionId: string): string => `agent.event.${caller}.${sessionKey(sessionId)}`,
} as const;

/** The session's word in a topic: 16 hex digits, as its id may hold any characters. */
const sessionKey = (sessionId: string): string => createHash("sha256").update(sessionId).digest("hex").slice(0, 16);

/** Topics of agents that take tasks over the bus, ours and others. They are of the .NET original. */
export const taskTopics = {
  announce: "discovery.announce",
  task: (agent: string): string => `agent.task.${agent}`,
  cancel: (agent: string): string => `agent.task.cancel.${agent}`,
  status: "agent.task.status",
  /** Where results go that were asked for nowhere else. A sender's own topic is below it. */
  response: "agent.response",
} as const;

/** These words of a task's topic mean something else. */
const NO_AGENTS: ReadonlySet<string> = new Set(["status", "cancel"]);

/** True if an agent of that name can be given tasks over the bus: a word of a topic that means no other. */
export const isBusAgentName = (name: string): boolean => isPeerName(name) && !NO_AGENTS.has(name.toLowerCase());

/** The agent whose tasks come on the topic; undefined of other topics. */
export function agentOfTaskTopic(topic: string): string | undefined {
  const name = /^agent\.task\.([^.]+)$/.exec(topic)?.[1];
  return name !== undefined && isBusAgentName(name) ? name : undefined;
}

/**
 * True if a result may go to the topic of a sender or of one of its instances.
 * @param user its verified name; undefined where senders are not verified
 */
export function isTaskReplyTopic(topic: string, user?: string): boolean {
  const name = /^agent\.response(?:\.([A-Za-z0-9_-]{1,64})(?:\.[A-Za-z0-9_-]{1,64})?)?$/.exec(topic);
  return name !== null && (user === undefined || name[1] === user);
}

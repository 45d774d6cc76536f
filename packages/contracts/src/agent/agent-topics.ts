import { createHash } from "node:crypto";

/** The service that runs the agent. */
export const AGENT = "agent";

/** The subscription that takes what users send. The dot keeps it apart from the names of services. */
export const AGENT_USER_SUBSCRIPTION = `${AGENT}.user`;

/** The subscription that takes calls which are no turns. Turns wait for some of them. */
export const AGENT_SHORT_SUBSCRIPTION = `${AGENT}-short`;

/** Its topics. Those of users are of the .NET original. */
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

// To give tasks to agents of other makers: who they are, and the tools.

export { type AgentList, AgentPool } from "./agents/agent-pool.ts";
export { MAX_CARD_BYTES } from "./agents/fetch-card.ts";
export type { AgentCredential, KnownAgent } from "./agents/known-agent.ts";
export { getAgentDetails } from "./tools/get-agent-details.ts";
export { invokeAgent } from "./tools/invoke-agent.ts";
export { listKnownAgents } from "./tools/list-known-agents.ts";
export { TaskOwners } from "./tools/task-owners.ts";

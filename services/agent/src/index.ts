// To run the service.

export { type RunningAgentService, type StartAgentServiceOptions, startAgentService } from "./agent-service.ts";
export { readAgentsFile } from "./definitions/read-agents-file.ts";
export { type AgentConfig, configSchema } from "./generated/config.ts";
export type { AgentRecords, ConnectAgentRecords } from "./records/agent-records.ts";
export { openAgentRecords } from "./records/open-agent-records.ts";

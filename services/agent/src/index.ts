// To run the service.

export { type RunningAgentService, type StartAgentServiceOptions, startAgentService } from "./agent-service.ts";
export { type ConnectDefinitions, openDefinitions } from "./definitions/open-definitions.ts";
export { readAgentsFile } from "./definitions/read-agents-file.ts";
export { type AgentConfig, configSchema } from "./generated/config.ts";

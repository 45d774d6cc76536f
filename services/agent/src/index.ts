// To run the service.

export { type RunningAgentService, type StartAgentServiceOptions, startAgentService } from "./agent-service.ts";
export { type AgentConfig, configSchema } from "./generated/config.ts";

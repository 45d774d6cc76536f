// To run the service.
export { configSchema, type OpenrouterMcpConfig } from "./generated/config.ts";
export { type StartOpenrouterMcpOptions, startOpenrouterMcp } from "./openrouter-mcp.ts";

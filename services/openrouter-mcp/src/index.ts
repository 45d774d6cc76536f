// To run the service.
export { checkOpenrouterMcpConfig } from "./check-openrouter-mcp-config.ts";
export { configSchema, type OpenrouterMcpConfig } from "./generated/config.ts";
export { type StartOpenrouterMcpOptions, startOpenrouterMcp } from "./openrouter-mcp.ts";

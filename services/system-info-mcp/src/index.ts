// To run the service.
export { configSchema, type SystemInfoMcpConfig } from "./generated/config.ts";
export { type StartSystemInfoMcpOptions, startSystemInfoMcp } from "./system-info-mcp.ts";

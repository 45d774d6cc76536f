// To run the service.
export { checkSystemInfoMcpConfig } from "./check-system-info-mcp-config.ts";
export { configSchema, type SystemInfoMcpConfig } from "./generated/config.ts";
export { type StartSystemInfoMcpOptions, startSystemInfoMcp } from "./system-info-mcp.ts";

// Servers, kept connected.
export type { CallLimitOptions } from "./call/call-limit.ts";
export type { McpCallResult } from "./call/call-result.ts";
export { cleanText } from "./clean-text.ts";
export { McpServer, type McpServerHealth, type McpServerOptions, type McpServerParts, type McpServerState } from "./mcp-server.ts";
// How they are reached.
export type { McpServerAddress, McpTool, OAuthOptions, RemoteAddress, StdioAddress } from "./server-options.ts";
export { cleanEnvironment } from "./stdio/clean-environment.ts";

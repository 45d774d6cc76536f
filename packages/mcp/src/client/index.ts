// Servers, kept connected.

export { CallLimit, type CallLimitOptions } from "./call/call-limit.ts";
export type { McpCallResult } from "./call/call-result.ts";
export type { McpCallOptions } from "./connect-mcp.ts";
export type { LeftOut } from "./incoming/listing.ts";
export {
  isRepeatable,
  McpServer,
  type McpServerHealth,
  type McpServerOptions,
  type McpServerParts,
  type McpServerState,
  serverAwayError,
} from "./mcp-server.ts";
export { INSTRUCTIONS, type Instructions, type ToolScreen } from "./offered-tools.ts";

// How they are reached.

export type { McpServerAddress, McpTool, OAuthOptions, RemoteAddress, StdioAddress } from "./server-options.ts";
export { cleanEnvironment } from "./stdio/clean-environment.ts";
export { endOrphans } from "./stdio/end-orphans.ts";

// Words of servers, as far as they may be used.

export { validatorOf } from "../schema/bounded-schema-validator.ts";
export { busOutput } from "../schema/bus-output.ts";
export { mendArguments } from "../schema/mend-arguments.ts";
export { cleanText } from "../text/clean-text.ts";

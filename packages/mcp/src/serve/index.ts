// To serve MCP clients.

export { ChangeWatch } from "./change-watch.ts";
export type { SharedSessions } from "./http/shared-sessions.ts";
export { type EndpointLoad, ToolEndpoint, type ToolEndpointOptions } from "./http/tool-endpoint.ts";
export { type ServeToolsOverStdioOptions, type StdioToolServer, serveToolsOverStdio } from "./serve-stdio.ts";

// The tools that clients get.

export type { OfferedCall, OfferedRun, OfferedRuns, OfferedTool, ToolSource } from "./tool-source.ts";

// To offer tools.
export { defineTool, type Tool, type ToolResult } from "./define-tool.ts";
export type { ToolSet } from "./tool-set.ts";

// To run them.
export type { ProgressUpdate, ToolContext, ToolExecutor, ToolLayer } from "./tool-executor.ts";
export { createToolRegistry, DuplicateToolError, type ToolChange, type ToolRegistration, type ToolRegistry } from "./tool-registry.ts";

// To serve and call them over a bus.
export type { ServeToolsOptions } from "./serve-tools.ts";
export type { CallOptions, ToolCaller, ToolCallerOptions } from "./tool-caller.ts";

// To offer tools.
export { defineTool, type Tool, type ToolResult } from "./define-tool.ts";
export type { ToolSet } from "./tool-set.ts";

// To run them.
export type { ProgressUpdate, ToolContext, ToolExecutor, ToolLayer } from "./tool-executor.ts";

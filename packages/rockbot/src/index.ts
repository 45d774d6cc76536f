// To offer tools.

export type { Bus, Logger, MemoryBusOptions } from "@rockbot/bus";
// The bus in one process, the errors of any bus, and the log that takes nothing down.
export { BusClosedError, BusUnavailableError, createMemoryBus, silentLogger } from "@rockbot/bus";
export type {
  ContentTrust,
  SchemaError,
  ToolDefinition,
  ToolErrorOptions,
  ToolGuide,
  ToolInvokeRequest,
  ToolInvokeResponse,
  Validator,
} from "@rockbot/contracts";
// What a call fails with, and the tools that RockBot's own services offer.
export { allToolNames, dangerousToolNames, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
export type {
  CallOptions,
  Discovery,
  ListedTool,
  MissingList,
  ProgressUpdate,
  ResumedCall,
  ServeToolsOptions,
  Tool,
  ToolCallContext,
  ToolCaller,
  ToolCallerOptions,
  ToolChange,
  ToolExecutor,
  ToolProvider,
  ToolRegistration,
  ToolRegistry,
  ToolResult,
  ToolSet,
} from "@rockbot/tools";
export { createToolCaller, DEFAULT_TIMEOUT_MS, defineTool, listTools, MAX_RESULT_BYTES, MAX_TIMEOUT_MS, serveTools } from "@rockbot/tools";

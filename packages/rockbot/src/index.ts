// To offer tools.

export {
  type AskingCallContext,
  defineTool,
  MAX_RESULT_BYTES,
  type ProgressUpdate,
  type ServeToolsOptions,
  serveTools,
  type Tool,
  type ToolCallContext,
  type ToolExecutor,
  type ToolProvider,
  type ToolResult,
  type ToolSet,
} from "@rockbot/tools";

// To call tools.

export {
  type CallOptions,
  createToolCaller,
  DEFAULT_TIMEOUT_MS,
  type Discovery,
  type ListedTool,
  listTools,
  MAX_TIMEOUT_MS,
  type MissingList,
  type ResumedCall,
  type ToolCaller,
  type ToolCallerOptions,
  type ToolChange,
  type ToolRegistration,
  type ToolRegistry,
} from "@rockbot/tools";

// What a tool promises, what a call fails with, and the tools that RockBot's own services offer.

export {
  allToolNames,
  type ContentTrust,
  dangerousToolNames,
  type SchemaError,
  type ToolDefinition,
  ToolError,
  ToolErrorCode,
  type ToolErrorOptions,
  type ToolGuide,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
  tools,
  type Validator,
} from "@rockbot/contracts";

// The bus in one process, the errors of any bus, and the log that takes nothing down.

export {
  type Bus,
  BusClosedError,
  BusUnavailableError,
  createMemoryBus,
  type Logger,
  type MemoryBusOptions,
  silentLogger,
} from "@rockbot/bus";

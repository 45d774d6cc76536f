// To offer tools.
export { defineTool, type Tool, type ToolCallContext, type ToolResult } from "./define-tool.ts";
// To know who messages are from, where they are no calls.
export { callerOf, createIdentity, type Identity } from "./identity.ts";
// To run them: executors, and the layers around them.
export { CallClaims } from "./layers/claim.ts";
export { type Serving, servingLayers, withCallingLayers, withLocalLayers } from "./layers.ts";
export { DEFAULT_TIMEOUT_MS, MAX_RESULT_BYTES, MAX_TIMEOUT_MS } from "./limits.ts";
export { type ListedTool, listTools } from "./list-tools.ts";
export { METERED, MessageMeter } from "./message-meter.ts";
// To tell of a call's progress elsewhere than where its answer goes.
export { paceUpdates, type UpdatePace } from "./pace-updates.ts";
// To take requests in other forms than the bus's own.
export { readCall } from "./read-request.ts";
// To play parked calls again.
export { createReplayer, type ReplayAnswer, type Replayer, type ReplayOptions, ReplayRefusedError } from "./replay-parked.ts";
// To answer calls, and take answers, of other topics.
export { answerOf, encodeReply } from "./reply.ts";
export type { RequestForm } from "./request-form.ts";
export { ResultCache, type ResultCacheOptions } from "./result-cache.ts";
// To call tools.
export type { ResumedCall } from "./resume-calls.ts";
export { type OpenClaims, type ServeToolsOptions, serveTools } from "./serve-tools.ts";
export { type CallOptions, createToolCaller, type ToolCaller, type ToolCallerOptions } from "./tool-caller.ts";
export type { Discovery, MissingList } from "./tool-directory.ts";
export type { ProgressUpdate, ToolContext, ToolExecutor, ToolLayer } from "./tool-executor.ts";
export type { ToolProvider } from "./tool-provider.ts";
export { createToolRegistry, DuplicateToolError, type ToolChange, type ToolRegistration, type ToolRegistry } from "./tool-registry.ts";
export type { ToolSet } from "./tool-set.ts";

// To offer tools.

// To play parked calls again.
export { createReplayer, type ReplayAnswer, type Replayer, type ReplayOptions, ReplayRefusedError } from "./call/replay-parked.ts";
// To call tools.
export type { ResumedCall } from "./call/resume-calls.ts";
export { type CallOptions, createToolCaller, type ToolCaller, type ToolCallerOptions } from "./call/tool-caller.ts";
export { defineTool, type Tool, type ToolCallContext, type ToolResult } from "./define/define-tool.ts";
export { type ListedTool, listTools } from "./define/list-tools.ts";
export type { ProgressUpdate, ToolContext, ToolExecutor, ToolLayer } from "./define/tool-executor.ts";
export type { ToolProvider } from "./define/tool-provider.ts";
export { createToolRegistry, DuplicateToolError, type ToolChange, type ToolRegistration, type ToolRegistry } from "./define/tool-registry.ts";
export type { ToolSet } from "./define/tool-set.ts";
export type { Discovery, MissingList } from "./discover/tool-directory.ts";
// To run them: executors, and the layers around them.
export { CallClaims } from "./layers/claim.ts";
export { type Serving, servingLayers, withCallingLayers, withLocalLayers } from "./layers/layers.ts";
export { ResultCache, type ResultCacheOptions } from "./layers/result-cache.ts";
export { DEFAULT_TIMEOUT_MS, MAX_RESULT_BYTES, MAX_TIMEOUT_MS } from "./limits.ts";
// To know who messages are from, where they are no calls.
export { callerOf, createIdentity, type Identity } from "./messages/identity.ts";
export { METERED, MessageMeter } from "./messages/message-meter.ts";
// To answer calls, and take answers, of other topics.
export { answerOf, encodeReply } from "./messages/reply.ts";
export type { RequestForm } from "./messages/request-form.ts";
// To tell of a call's progress elsewhere than where its answer goes.
export { paceUpdates, type UpdatePace } from "./serve/pace-updates.ts";
// To take requests in other forms than the bus's own.
export { readCall } from "./serve/read-request.ts";
export { type OpenClaims, type ServeToolsOptions, serveTools } from "./serve/serve-tools.ts";

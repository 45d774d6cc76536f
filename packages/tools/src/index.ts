// To offer tools.

export { AdvisedTools, advised } from "./define/advised-tools.ts";
export { type CallFiles, filesOf } from "./define/call-files.ts";
export {
  type AskingCallContext,
  defineTool,
  type ResumableCallContext,
  type Tool,
  type ToolCallContext,
  type ToolResult,
} from "./define/define-tool.ts";
export type { ToolProvider } from "./define/tool-provider.ts";
export type { ToolSet } from "./define/tool-set.ts";
export { paceUpdates, type UpdatePace } from "./serve/pace-updates.ts";
export { type OpenClaims, type ServeToolsOptions, type StartServiceOptions, serveTools } from "./serve/serve-tools.ts";

// To call tools.

export type { CallOptions } from "./call/call-options.ts";
export { innerCallId } from "./call/inner-call-id.ts";
export { instanceNames, underFreeName } from "./call/remote/instance-names.ts";
export type { ResumedCall } from "./call/resume-calls.ts";
export { createToolCaller, type ToolCaller, type ToolCallerOptions } from "./call/tool-caller.ts";
export { type ListedTool, listTools } from "./define/list-tools.ts";
export {
  createToolRegistry,
  DuplicateToolError,
  type ToolChange,
  type ToolRegistration,
  type ToolRegistry,
} from "./define/tool-registry.ts";
export type { Discovery, HeardService, InstanceReport, MissingList } from "./discover/tool-directory.ts";
export { DURATION_BOUNDS_MS } from "./layers/call-tally.ts";
export { DEFAULT_TIMEOUT_MS, MAX_BLOB_RESULT_BYTES, MAX_RESULT_BYTES, MAX_TIMEOUT_MS } from "./limits.ts";

// To put layers around tools in another way than `serveTools` does.

export type { ProgressUpdate, ToolContext, ToolExecutor, ToolLayer } from "./define/tool-executor.ts";
export { CallClaims } from "./layers/claim.ts";
export { takesFiles } from "./layers/files.ts";
export { type Serving, servingLayers, withCallingLayers, withLocalLayers } from "./layers/layers.ts";
export { checkNarrowed } from "./layers/narrow.ts";
export { checkUnasked } from "./layers/park.ts";
export { createPolicyTurns, type PolicyTurns } from "./layers/queue.ts";
export { takeRates } from "./layers/rate.ts";
export { ResultCache, type ResultCacheOptions } from "./layers/result-cache.ts";
export { AskedError } from "./runs/questions.ts";
export { pending } from "./runs/run-errors.ts";
export { replyOf } from "./runs/run-keeper.ts";

// For operators: to replay parked requests, and to read them; which policy each service goes by.

export {
  createReplayer,
  OPERATOR,
  type ReplayAnswer,
  type Replayer,
  type ReplayOptions,
  ReplayRefusedError,
} from "./call/replay-parked.ts";
export { heardPolicies } from "./discover/heard-policies.ts";
export type { RequestForm } from "./messages/request-form.ts";
export { readCall } from "./serve/read-request.ts";

// For packages beside this one that speak its messages: who they are from, how many are taken, and their answers.

export { callerOf, createIdentity, type Identity } from "./messages/identity.ts";
export { METERED, MessageMeter } from "./messages/message-meter.ts";
export { answerOf, encodeReply } from "./messages/reply.ts";
export { depthOf } from "./serve/read-request.ts";

// The names of MCP tools on the bus.
export { announcedMcpName, announcedMcpPrefix, mayBeAnnouncedMcpName } from "./announced-mcp-name.ts";
// Messages: what crosses the bus.

// Values.
export { canonicalJson } from "./canonical-json.ts";
// Validation in words.
export { ConfigError } from "./config-error.ts";
export { type Decoded, decodeMessage, encodeMessage, type MessageFault, type MessageName } from "./decode.ts";
export { describeFaults, type Fault, faultsText, nearestName } from "./describe-faults.ts";
export { encodeData, UncarriableError } from "./encode-data.ts";
// Envelopes: how messages are addressed.
export { createEnvelope, type Envelope, Header, type NewEnvelope, newId, waitsMs } from "./envelope.ts";
export { type Messages, messages } from "./generated/messages.ts";
// Tools: what each promises.
export { allToolNames, dangerousToolNames, tools } from "./generated/tools.ts";
export type {
  AnnouncedTool,
  ContentTrust,
  McpRegisterServerRequest,
  McpServerSummary,
  McpServersIndexed,
  McpToolDefinition,
  McpUnregisterServerRequest,
  ScriptInvokeRequest,
  ScriptInvokeResponse,
  ToolAnnouncement,
  ToolError as ToolErrorMessage,
  ToolExecutePythonScriptInput,
  ToolExecutePythonScriptOutput,
  ToolGuide,
  ToolHeartbeat,
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolListChange,
  ToolProgress,
} from "./generated/types.ts";
export { maskLikelySecrets } from "./mask-likely-secrets.ts";
export { MAX_REQUEST_BYTES } from "./max-request-bytes.ts";
export { type McpCall, mcpCallEnvelope } from "./mcp-call-envelope.ts";
export { mcpServerSummary } from "./mcp-server-summary.ts";
export { MCP_BRIDGE, MCP_MANAGE_SUBSCRIPTION, mcpTopics } from "./mcp-topics.ts";
export {
  checkName,
  isInstanceNumber,
  isName,
  isReplyTopic,
  isReplyTopicOf,
  isSessionId,
  MAX_INSTANCES,
  namePattern,
  replyRoots,
  replyTopicPattern,
} from "./names.ts";
export { isTooDeepToCarry, MAX_DATA_DEPTH, MAX_JSON_DEPTH, type ParsedJson, parseArguments, parseData, parseJson } from "./parse-json.ts";
export { printable, printableJson } from "./printable.ts";
export { isInexactText, quoteInexact } from "./scan-json.ts";
// Errors: what a call fails with.
export { type TimedOut, timeoutError } from "./timeout-error.ts";
export type { ToolDefinition } from "./tool-definition.ts";
export { ToolError, ToolErrorCode, type ToolErrorOptions } from "./tool-error.ts";
export { errorReply, textResponse, toolErrorFrom } from "./tool-messages.ts";
export type { SchemaError, Validator } from "./validator.ts";
// Texts of strangers.
export { visibleText } from "./visible-text.ts";
export { fromWire, readTtlMs, toWire, type WireProperties } from "./wire.ts";
export { yamlFaults } from "./yaml-faults.ts";

// Messages: what crosses the bus.

export { type Messages, messages } from "./generated/messages.ts";
export type {
  AgentCard as AgentCardMessage,
  AgentEvent,
  AgentReply,
  AgentTaskCancelRequest,
  AgentTaskError,
  AgentTaskMessage,
  AgentTaskPart,
  AgentTaskRequest,
  AgentTaskResult,
  AgentUsage,
  AnnouncedTool,
  CallCounts,
  ChatMessage,
  ChatToolCall,
  ClientTool,
  ContentTrust,
  ConversationHistoryResponse,
  ConversationTurn,
  FamilyTurn,
  KnowledgeHit,
  McpRegisterServerRequest,
  McpServerSummary,
  McpServersIndexed,
  McpToolDefinition,
  McpUnregisterServerRequest,
  OperatorCommand,
  PartFailures,
  ResultSize,
  ScriptInvokeRequest,
  ScriptInvokeResponse,
  ToolAgentBatchInput,
  ToolAgentBatchOutput,
  ToolAgentChatInput,
  ToolAgentChatOutput,
  ToolAgentEmbedOutput,
  ToolAgentEventsInput,
  ToolAgentEventsOutput,
  ToolAgentFinalReportInput,
  ToolAgentHelperInput,
  ToolAgentTaskStatusInput,
  ToolAnnouncement,
  ToolAnthropicUsageInput,
  ToolBashOutput,
  ToolCalendarCreateEventInput,
  ToolError as ToolErrorMessage,
  ToolExecutePythonScriptInput,
  ToolExecutePythonScriptOutput,
  ToolGuide,
  ToolHeartbeat,
  ToolInvokeRequest,
  ToolInvokeResponse,
  ToolKnowledgeSaveInput,
  ToolKnowledgeSearchInput,
  ToolKnowledgeSearchOutput,
  ToolLinkedinJobDetailOutput,
  ToolLinkedinJobsInput,
  ToolLinkedinJobsOutput,
  ToolListChange,
  ToolListFilesOutput,
  ToolListScheduledTasksOutput,
  ToolOutput,
  ToolProgress,
  ToolReadFileOutput,
  ToolRobotCreateOutput,
  ToolRobotUpdateInput,
  ToolRouterHandoffToInput,
  ToolSaveSkillInput,
  ToolSaveSkillOutput,
  ToolSaveWispInput,
  ToolSaveWispOutput,
  ToolSearchFilesOutput,
  ToolSpawnSubagentInput,
  ToolSpawnWispsInput,
  ToolSpawnWispsOutput,
  ToolWriteFileOutput,
  TurnFinish,
  UserFeedback,
  UserMessage,
  WispDefinition,
} from "./generated/types.ts";
export { encodeData, UncarriableError } from "./json/encode-data.ts";
export { type Decoded, decodeMessage, encodeMessage, type MessageFault, type MessageName } from "./messages/decode.ts";
export { MAX_REQUEST_BYTES } from "./messages/max-request-bytes.ts";

// Envelopes: how messages are addressed.

export {
  createEnvelope,
  type Envelope,
  Header,
  hasReadUntrusted,
  Keep,
  type NewEnvelope,
  newId,
  waitsMs,
} from "./messages/envelope.ts";
export { isServedSteps, readServedSteps, type ServedSteps, writeServedSteps } from "./messages/served-steps.ts";
export { fromWire, readTtlMs, toWire, type WireProperties } from "./messages/wire.ts";
export {
  checkName,
  isInstanceNumber,
  isName,
  isPeerName,
  isReplyTopic,
  isReplyTopicOf,
  isSessionId,
  isUserReplyTopic,
  isUserReplyTopicOf,
  MAX_INSTANCES,
  namePattern,
  replyRoots,
  replyTopicPattern,
  userReplyRoots,
} from "./names.ts";

// Tools: what each promises.

export {
  AgentReading,
  type AgentReadingBody,
  type MemoryFacts,
  type MemoryPage,
  type MemoryText,
  type SessionPage,
  type Transcript,
  type WispList,
} from "./agent/agent-readings.ts";
export {
  AGENT,
  AGENT_SHORT_SUBSCRIPTION,
  AGENT_TASK_SUBSCRIPTION,
  AGENT_USER_SUBSCRIPTION,
  agentOfTaskTopic,
  agentTopics,
  isBusAgentName,
  isTaskReplyTopic,
  taskTopics,
} from "./agent/agent-topics.ts";
export { readOutput, type TurnOutput } from "./agent/read-output.ts";
export { sessionFault } from "./agent/session-fault.ts";
export { partWords } from "./agent/task-part.ts";
export { allToolNames, dangerousToolNames, toolServices, tools } from "./generated/tools.ts";
export { announcedMcpName, announcedMcpPrefix, mayBeAnnouncedMcpName } from "./mcp/announced-mcp-name.ts";
export { type McpCall, mcpCallEnvelope } from "./mcp/mcp-call-envelope.ts";
export { mcpError } from "./mcp/mcp-error.ts";
export { mcpServerSummary } from "./mcp/mcp-server-summary.ts";
export { mcpServerTrust } from "./mcp/mcp-server-trust.ts";
export { MCP_BRIDGE, MCP_MANAGE_SUBSCRIPTION, mcpTopics } from "./mcp/mcp-topics.ts";
export { reservedPrefixOf } from "./mcp/reserved-prefixes.ts";
export type { ToolDefinition } from "./tool-definition.ts";

// JSON Schemas that refer to themselves.

export { boundedValidator, UNCHECKED } from "./json-schema/bounded-validator.ts";
export { referenceFault } from "./json-schema/reference-fault.ts";

// Whose words a text is.

export { boundedTrust, definedBy, marks, saidBy, trustOfAll, withTrust } from "./foreign-words.ts";

// Errors: what a call fails with.

export { errorReply, textResponse, toolErrorFrom } from "./messages/tool-messages.ts";
export { type PartFailure, partFailures, partFailuresText } from "./part-failures.ts";
export { type TimedOut, timeoutError } from "./timeout-error.ts";
export { ToolError, ToolErrorCode, type ToolErrorOptions } from "./tool-error.ts";

// Faults of values and files, in words.

export { ConfigError } from "./faults/config-error.ts";
export { counted } from "./faults/counted.ts";
export { describeFaults, type Fault, faultsText, namesHelp, nearestName } from "./faults/describe-faults.ts";
export type { SchemaError, Validator } from "./faults/validator.ts";
export { yamlFaults } from "./faults/yaml-faults.ts";
export { yamlValue } from "./faults/yaml-value.ts";
export { type NearestTools, nearestTools, orDidYouMean } from "./nearest-tools.ts";

// Values and texts of strangers.

export { maskLikelySecrets } from "./faults/mask-likely-secrets.ts";
export { fence } from "./fence.ts";
export { base64Bytes, fileText, type GivenFile } from "./file-text.ts";
export { canonicalJson } from "./json/canonical-json.ts";
export {
  isTooDeepToCarry,
  MAX_DATA_DEPTH,
  MAX_JSON_DEPTH,
  type ParsedJson,
  parseArguments,
  parseData,
  parseJson,
} from "./json/parse-json.ts";
export { isInexactText, quoteInexact } from "./json/scan-json.ts";
export { valueAt } from "./json/value-at.ts";
export { printable, printableJson, withHiddenShown } from "./printable.ts";
export { visibleText } from "./visible-text.ts";

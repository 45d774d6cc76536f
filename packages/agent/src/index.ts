// To make an agent.

export type { AgentLimits } from "./agent/agent-limits.ts";
export { type AgentBuilder, type AgentOptions, createAgent } from "./agent/create-agent.ts";
export type { NamedCall, TurnTool } from "./calls/turn-tools.ts";
export type { AgentHost, AgentParts, AgentPlugin, Aside, TurnScope } from "./plugins/agent-plugin.ts";
export type { Agent } from "./words/agent.ts";

// Its subsystems.

export { keptFiles } from "./plugins/kept-files.ts";
export { mcpToolProxy } from "./plugins/mcp-tool-proxy.ts";
export { scriptValues } from "./plugins/script-values.ts";
export { type ServiceSearchPluginOptions, serviceSearch } from "./plugins/service-search.ts";
export {
  localScriptRunner,
  type OwnService,
  remoteScriptRunner,
  scheduling,
  toolService,
  webTools,
} from "./plugins/tool-service.ts";
export { whiteboard } from "./plugins/whiteboard.ts";
export { type WorkingMemoryOptions, workingMemory } from "./plugins/working-memory.ts";

// Its turns.

export { type Spending, spendingBy } from "./budget/spending.ts";
export { costText } from "./budget/turn-budget.ts";
export { usageMessage } from "./budget/usage-message.ts";
export { stepWords } from "./family/step-words.ts";
export type { AwaitEnd, AwaitedCall } from "./words/awaited-call.ts";
export type { NewEvent } from "./words/new-event.ts";
export type { HistoryTurn } from "./words/session.ts";
export type { LargeResult, TurnPlace, TurnRequest, TurnResult } from "./words/turn.ts";

// Sessions of definitions.

export { definitionFaults, nameFault } from "./definitions/definition-faults.ts";
export { definitionHash } from "./definitions/definition-hash.ts";
export { type DefinitionStore, type KeptDefinition, MAX_SWITCHED } from "./definitions/definition-store.ts";
export { childToolOf } from "./family/child-names.ts";
export { childSessionOf } from "./family/children.ts";
export { mayCallAgent } from "./family/may-call-agent.ts";
export type { AgentDefinition, DefinitionReader } from "./words/agent-definition.ts";
export type { FamilySession, ToolCount } from "./words/family-session.ts";
export type { FinalReport } from "./words/final-report.ts";

// What callers have made.

export { changeRefusal, FROM_BEFORE, isBounded, keptGrant, NO_BOUNDS, recordTaint } from "./records/grant.ts";
export {
  type ChangeOutcome,
  isRecordId,
  isVisibleTo,
  type KeptRecord,
  MAX_CHARS_OF_MAKER,
  MAX_VISIBLE,
  type RecordStore,
} from "./records/record-store.ts";
export { saveNamed } from "./records/save-named.ts";
export { tooLarge } from "./records/too-large.ts";
export { withStore } from "./records/with-store.ts";
export type { KeptSkill } from "./skills/kept-skill.ts";
export { skillHash } from "./skills/skill-hash.ts";
export type { SkillReader } from "./skills/skill-reader.ts";

// Where they are kept.

export { createMemoryTurnStore, type MemoryTurnStoreOptions } from "./store/memory/memory-turn-store.ts";
export type { KeptSession, SessionShelf } from "./store/session-shelf.ts";
export type {
  StoredAnswer,
  StoredResult,
  TakenTurn,
  TurnClaim,
  TurnLease,
  TurnPlacing,
  TurnRecord,
  TurnStore,
} from "./store/turn-store.ts";
export type { EventPage, SessionKey } from "./words/session.ts";

// Tools of a bus for a loop that you bring.

export type { AiSdkSchema, AiSdkTool, AiSdkTools } from "./bus-tools/ai-sdk-tools.ts";
export type { AnthropicTool, AnthropicToolResult, AnthropicToolUse } from "./bus-tools/anthropic-tools.ts";
export type { BusToolResult } from "./bus-tools/bus-tool-result.ts";
export { type BusTools, type BusToolsOptions, busTools } from "./bus-tools/bus-tools.ts";
export type { OpenAiTool, OpenAiToolCall, OpenAiToolMessage } from "./bus-tools/openai-tools.ts";

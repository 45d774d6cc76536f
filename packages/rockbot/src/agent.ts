// An agent in your own program: a model, and the tools that are served on a bus.
export {
  type Agent,
  type AgentBuilder,
  type AgentDefinition,
  type AgentHost,
  type AgentLimits,
  type AgentOptions,
  type AgentParts,
  type AgentPlugin,
  type Aside,
  childSessionOf,
  createAgent,
  createMemoryTurnStore,
  type DefinitionReader,
  type EventPage,
  type FinalReport,
  type HistoryTurn,
  localScriptRunner,
  type MemoryTurnStoreOptions,
  mcpToolProxy,
  type OwnService,
  remoteScriptRunner,
  type ServiceSearchPluginOptions,
  scheduling,
  serviceSearch,
  type TurnRequest,
  type TurnResult,
  type TurnScope,
  type TurnStore,
  type TurnTool,
  toolService,
  type WorkingMemoryOptions,
  webTools,
  whiteboard,
  workingMemory,
} from "@rockbot/agent";

// The tools of a bus, for a loop that you bring yourself: of the Vercel AI SDK, OpenAI's or Anthropic's.

export {
  type AiSdkTools,
  type AnthropicTool,
  type AnthropicToolResult,
  type BusToolResult,
  type BusTools,
  type BusToolsOptions,
  busTools,
  type OpenAiTool,
  type OpenAiToolMessage,
} from "@rockbot/agent";
export type { Model, ModelAnswer, ModelBehavior, ModelMessage, ModelRequest, ModelTool, ModelToolCall, ModelUsage } from "@rockbot/llm";
export { createWorkingMemory, type MemoryLimits, type OwnedMemory, type WorkingMemory } from "@rockbot/memory";

// To make an agent.

export type { Agent } from "./agent/agent.ts";
export type { AgentLimits } from "./agent/agent-limits.ts";
export type { AgentHost, AgentParts, AgentPlugin, TurnScope } from "./agent/agent-plugin.ts";
export { type AgentBuilder, type AgentOptions, createAgent } from "./agent/create-agent.ts";

// Its turns.

export type { NewEvent } from "./turn/new-event.ts";
export type { HistoryTurn, TurnRequest, TurnResult } from "./turn/turn.ts";

// Where they are kept.

export { createMemoryTurnStore, type MemoryTurnStoreOptions } from "./store/memory-turn-store.ts";
export type {
  EventPage,
  SessionKey,
  StoredAnswer,
  StoredResult,
  TakenTurn,
  TurnClaim,
  TurnLease,
  TurnRecord,
  TurnStore,
} from "./store/turn-store.ts";

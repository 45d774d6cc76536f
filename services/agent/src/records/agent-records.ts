import type { DefinitionStore, KeptSkill, RecordStore } from "@rockbot/agent";
import type { KeptWisp } from "@rockbot/wisps";

/** All that callers have made for the agent, in one database. */
export interface AgentRecords extends AsyncDisposable {
  /** The place of the records in words for an operator, without secrets. */
  readonly where: string;
  readonly definitions: DefinitionStore;
  readonly skills: RecordStore<KeptSkill>;
  readonly wisps: RecordStore<KeptWisp>;
}

export interface ConnectAgentRecordsOptions {
  /** Connections at most. @default 8 */
  readonly maxConnections?: number | undefined;
  /** How long a connection, or a question to the database, may take. @default 10_000 */
  readonly timeoutMs?: number | undefined;
}

/** Connects to a database that several machines share. @throws {StoreUnavailableError} */
export type ConnectAgentRecords = (url: string, options?: ConnectAgentRecordsOptions) => Promise<AgentRecords>;

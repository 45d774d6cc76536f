import type { KeptRecord, RecordStore } from "../records/record-store.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";

/** A definition as it is kept. */
export interface KeptDefinition extends Omit<AgentDefinition, "id">, KeptRecord {}

/** Sessions of which the store remembers the definition. The one that was switched longest ago is forgotten. */
export const MAX_SWITCHED = 100_000;

/** Keeps definitions, and which of them each session was switched to. */
export interface DefinitionStore extends RecordStore<KeptDefinition> {
  /** @param id of a definition; undefined to be the plain agent again */
  switchSession(caller: string, session: string, id: string | undefined): Promise<void>;
  /** The id that a session was switched to, also of a definition that is removed. */
  switchedTo(caller: string, session: string): Promise<string | undefined>;
}

import { MAX_INSTANCES } from "@rockbot/contracts";
import type { CallRecord } from "./call-record.ts";
import type { KeptTexts } from "./kept-texts.ts";
import type { CallPage, CallSearch } from "./search-calls.ts";

/**
 * Keeps the journals of callers, and the holders of instance names, where a restarted process finds them. A caller is
 * an agent or `agent.instance`; one process at a time writes a caller's journal.
 *
 * It keeps calls for MAX_AGE_MS: the newest MAX_CALLS of each effective caller, MAX_ALL_CALLS and MAX_ALL_BYTES of all.
 * Where that is too much, the effective caller that has most loses its oldest. So no caller pushes out the calls of
 * others.
 *
 * Every operation rejects with StoreUnavailableError if the store does not answer in time, refuses, or is closed. The
 * operation may have taken effect then, or not.
 */
export interface JournalStore extends AsyncDisposable {
  /**
   * Writes records as they stand now, in one round trip, and texts of theirs by their ids. A record that is kept stays
   * where `stays` says so.
   */
  write(caller: string, records: readonly CallRecord[], texts?: ReadonlyMap<string, KeptTexts>): Promise<void>;
  /**
   * Writes open calls before they are sent, in one round trip, for the next process of their caller: \`readOpen\` and
   * \`read\` find them, a search does not. The first \`write\` of a call takes its place.
   */
  noteAhead(caller: string, records: readonly CallRecord[]): Promise<void>;
  /** The texts of a call that are kept. */
  readKept(caller: string, toolCallId: string): Promise<KeptTexts | undefined>;
  /** The calls without an end. */
  readOpen(caller: string): Promise<CallRecord[]>;
  /** The newest calls first. */
  readRecent(caller: string, limit: number): Promise<CallRecord[]>;
  /** A page of the calls of all callers. */
  search(search: CallSearch): Promise<CallPage>;
  read(caller: string, toolCallId: string): Promise<CallRecord | undefined>;
  /** The callers that have written in the last MAX_AGE_MS, sorted. */
  readCallers(): Promise<string[]>;
  /**
   * Keeps an answer for ANSWER_KEPT_MS, if there is room for it; one that is to be the first, only if there is none.
   */
  writeAnswer(caller: string, toolCallId: string, answer: Uint8Array, options?: WriteAnswerOptions): Promise<void>;
  readAnswer(caller: string, toolCallId: string): Promise<Uint8Array | undefined>;
  /** For each of the agent's slots how long its lease still holds, in milliseconds; 0 if nobody has it. */
  readSlots(agent: string): Promise<number[]>;
  /**
   * Takes a slot that nobody has, and makes the lease of its owner hold from now.
   * @returns false if somebody else has the slot
   */
  holdSlot(agent: string, slot: number, lease: SlotClaim): Promise<boolean>;
  releaseSlot(agent: string, slot: number, owner: string): Promise<void>;
}

export interface WriteAnswerOptions {
  readonly isFirst?: boolean | undefined;
  /** The effective caller that it is counted for. @default the caller itself */
  readonly onBehalfOf?: string | undefined;
}

/** The claim of a process to the name of an instance. */
export interface SlotClaim {
  /** Unique to a running process. */
  readonly owner: string;
  readonly leaseMs: number;
}

/** An agent has as many slots as this. */
export const MAX_SLOTS = MAX_INSTANCES;
/** A larger answer is kept in the process only, not in the store. */
export const MAX_STORED_ANSWER_BYTES = 256 * 1024;

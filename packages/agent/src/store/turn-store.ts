import type { AgentEvent, ToolOutput } from "@rockbot/contracts";
import type { ModelAnswer, ModelToolCall, ModelUsage } from "@rockbot/llm";
import type { AgentDefinition } from "../words/agent-definition.ts";
import type { FamilySession } from "../words/family-session.ts";
import type { NewEvent } from "../words/new-event.ts";
import type { EventPage, HistoryTurn, SessionKey, SessionListing } from "../words/session.ts";
import type { TurnResult } from "../words/turn.ts";

/**
 * Remembers sessions and their turns. It keeps a bounded number of bytes of each caller: what expires first of its
 * ended turns and sessions gives way. A session with a turn, or one that waits, stays. One turn of a session runs at a
 * time, under the session's lease. A turn writes only while its lease holds: a process that has lost the lease changes
 * nothing any more.
 *
 * Each operation happens whole or not at all. It rejects with StoreUnavailableError if the store does not answer in
 * time, refuses, or is closed. Then it may have taken effect, or not. Each one may be asked for again. Operations of one process are applied in call order.
 */
export interface TurnStore extends AsyncDisposable {
  /**
   * Asks for the session's lease for a turn. A turn that has to wait takes its place in the session's queue. It keeps
   * the place while it asks again within `leaseMs`. A turn that was begun goes before all that wait. The one that gets
   * the lease is begun: the claim's record is written, unless there is one.
   */
  take(session: SessionKey, claim: TurnClaim): Promise<TakenTurn>;
  /**
   * Gives a turn that was not begun its place in the session's queue, as `take` does, but does not take the session. It
   * keeps the place for `placeMs`.
   */
  place(session: SessionKey, place: TurnPlacing): Promise<void>;
  /**
   * Tells whether a turn that has not ended gets on: it waits behind another, or was taken less than MAX_TAKES times
   * since it last got an answer or a result. A taking that was given back does not count.
   */
  getsOn(session: SessionKey, turnId: string): Promise<boolean>;
  /** Makes the lease hold from now. @returns whether it held */
  renew(session: SessionKey, lease: TurnLease, leaseMs: number): Promise<boolean>;
  /** Gives the lease back, or leaves the queue. The turn's record stays. */
  leave(session: SessionKey, turnId: string, owner: string): Promise<void>;
  /**
   * Adds the next answer of the model.
   * @returns false if the lease does not hold, or the record has another answer of this number
   */
  addAnswer(session: SessionKey, lease: TurnLease, index: number, answer: StoredAnswer): Promise<boolean>;
  /** Adds the result of a call; the first one of a call stays. @returns whether the lease holds */
  addResult(session: SessionKey, lease: TurnLease, callId: string, result: StoredResult): Promise<boolean>;
  /**
   * Ends the turn: keeps its result, adds to the session's history, and gives the lease back.
   * @returns false if the lease does not hold, or the turn has another result
   */
  end(session: SessionKey, lease: TurnLease, result: TurnResult, history: readonly HistoryTurn[]): Promise<boolean>;
  /** The messages of the session, oldest first, at most MAX_HISTORY. */
  history(session: SessionKey): Promise<readonly HistoryTurn[]>;
  /** The caller's sessions in which a user has spoken, the one last spoken in first, at most 200. */
  sessions(caller: string): Promise<readonly SessionListing[]>;
  /** Adds a message to the session's history, whichever turn runs. */
  note(session: SessionKey, entry: HistoryTurn): Promise<void>;
  /**
   * Adds events to the session's log, at most MAX_EVENTS of EVENTS_KEPT_MS.
   * @param after the new ones have numbers above this one, too: the log may have forgotten it
   * @returns them with their numbers
   */
  addEvents(
    session: SessionKey,
    turnId: string,
    events: readonly NewEvent[],
    after: number,
  ): Promise<readonly AgentEvent[]>;
  /** The events after a number, oldest first, as far as they are kept; and the number of the newest. */
  events(session: SessionKey, after: number, limit: number): Promise<EventPage>;
}

/** Which run of a turn asks for a session's lease. */
export interface TurnClaim {
  readonly turnId: string;
  /** Unique to this run of the turn. */
  readonly owner: string;
  readonly leaseMs: number;
  /** How many turns may wait. */
  readonly maxWaiting: number;
  /** Begins the turn. */
  readonly record: TurnRecord;
  /**
   * What is asked, for a store whose turns end with its process: the session remembers it as interrupted.
   * @default nothing is remembered
   */
  readonly message?: string | undefined;
}

/** Which turn gets a place, and for how long. */
export interface TurnPlacing extends Pick<TurnClaim, "turnId" | "maxWaiting"> {
  readonly placeMs: number;
}

/** The lease of a session, as one run of a turn has it. */
export interface TurnLease {
  readonly turnId: string;
  readonly owner: string;
  /** Rises with each taking. */
  readonly fence: number;
}

/** The store's answer to a claim. */
export type TakenTurn =
  /** With the record that there was; undefined if the claim's was written. */
  | {
      readonly state: "taken";
      readonly fence: number;
      readonly record: TurnRecord | undefined;
      readonly history: readonly HistoryTurn[];
    }
  | { readonly state: "waiting"; readonly ahead: number }
  | { readonly state: "full"; readonly waiting: number }
  /** The caller's sessions have so many bytes, all that one may, and are at work. The turn was not begun before. */
  | { readonly state: "no room"; readonly most: number }
  | { readonly state: "ended"; readonly result: TurnResult };

/** All that a turn needs to be taken up again, beside its request. */
export interface TurnRecord {
  /** Names the fences around untrusted content in this turn. */
  readonly nonce: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly hasReadUntrusted: boolean;
  readonly answers: readonly StoredAnswer[];
  /** By the id of the call. */
  readonly results: ReadonlyMap<string, StoredResult>;
}

/** An answer of the model, as it is acted on. */
export interface StoredAnswer extends ModelAnswer {
  readonly toolCalls: readonly StoredCall[];
  /** It is the last one, without tools: why, in words. */
  readonly limit?: string | undefined;
  /** What the session was from this answer on, if it was not so before, or if it is the turn's first. */
  readonly definition?: AgentDefinition | undefined;
  /** Its text ends before what the client stops it at. */
  readonly isCut?: boolean | undefined;
  /** The turn had read untrusted content when it was given. */
  readonly isMarked?: boolean | undefined;
}

/** A call that the model asks for: with the name of a tool, and arguments that can be parsed, unless it is refused. */
export interface StoredCall extends ModelToolCall {
  /** What was changed so that it could run. The model learns it with the result. */
  readonly repair?: string | undefined;
  /** Why it is not run. It is the call's result. */
  readonly refusal?: string | undefined;
}

/** The result of a call, as the model reads it, without its fence. */
export interface StoredResult {
  readonly content: string;
  readonly isError: boolean;
  /** Others' words: they are fenced. */
  readonly isUntrusted: boolean;
  /** They describe what others offer, and an operator has approved them: they do not mark the turn. @default false */
  readonly isApproved?: boolean | undefined;
  readonly origin?: string | undefined;
  /** Where the whole is, of a result that was too large for the model. */
  readonly toolOutput?: ToolOutput | undefined;
  /** The same as a value, where a step of a pipeline reads it. */
  readonly structured?: unknown;
  /** What was used up of the turn's tokens for it. */
  readonly usage?: ModelUsage | undefined;
  /** The turn of the agent that was called, as it ended. */
  readonly family?: FamilySession | undefined;
}

/** What a list has of a session; undefined if no user has spoken in these messages. */
export function listingOf(
  { caller, sessionId }: SessionKey,
  history: readonly HistoryTurn[],
): SessionListing | undefined {
  const last = history.findLast(({ role, origin }) => role === "user" && origin === undefined);
  return (
    last && {
      caller,
      sessionId,
      at: last.at,
      said: last.content.slice(0, 200).toWellFormed(),
      isUntrusted: last.isUntrusted,
    }
  );
}

/** The newest ones, as a store lists them. */
export const newestOf = (listings: readonly SessionListing[]): readonly SessionListing[] =>
  listings.toSorted((a, b) => b.at - a.at).slice(0, 200);

/** Messages that a session remembers. */
export const MAX_HISTORY = 50;
/** Events that a session's log keeps at most, and how long it keeps one. */
export const MAX_EVENTS = 1_000;
export const EVENTS_KEPT_MS = 15 * 60_000;
/**
 * A turn that was begun has the session to itself for so many leases after it was cut off, so that it is taken up
 * before others begin.
 */
export const TAKE_UP_LEASES = 3;
/** A turn that was taken so often, and has not got on, may be what its processes died of. */
export const MAX_TAKES = 10;
/** How long a record of a turn that goes on is kept, and the result of one that has ended. */
export const RECORD_KEPT_MS = 60 * 60_000;
export const RESULT_KEPT_MS = 24 * 3600_000;
/** A session is forgotten after so long without a turn. @default of the stores */
export const SESSION_KEPT_MS = 7 * 24 * 3600_000;

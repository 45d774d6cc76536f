import type { ToolCaller } from "@rockbot/tools";
import type { FamilySession } from "./family-session.ts";
import type { EventPage, HistoryTurn, SessionListing } from "./session.ts";
import type { TurnPlace, TurnRequest, TurnResult } from "./turn.ts";

/**
 * An agent that runs: it takes turns, of many sessions at once, one turn at a time each. Disposal leaves the turns that
 * run for another process.
 */
export interface Agent extends AsyncDisposable {
  readonly name: string;
  /** Its calling side. */
  readonly caller: ToolCaller;
  /**
   * Runs a turn, and resolves with its one result. Asked for again, it gives the result that is kept, joins the turn
   * that runs, or takes up one that was cut off: what the model has said is not asked for again, and no call is made
   * twice.
   * @throws {ToolError} if the turn was not taken: too many wait, the store is away, or no time is left
   * @throws {BusClosedError} if this process stops first: the turn can be taken up
   */
  runTurn(request: TurnRequest): Promise<TurnResult>;
  /**
   * Gives a turn its place behind those of its session that have one, before it is run. So turns that processes run
   * beside each other begin in the order of these calls. A turn that is not run keeps its place for three leases,
   * unless it leaves it.
   */
  place(turn: TurnPlace): Promise<void>;
  /** Gives up the place of a turn that will not be run. */
  leave(turn: TurnPlace): Promise<void>;
  /**
   * Tells whether a turn that crashed its processes again and again may be the cause: it was often begun, and did not
   * get on.
   */
  isToBlame(turn: TurnPlace): Promise<boolean>;
  /** The caller's sessions in which a user has spoken, the one last spoken in first. */
  sessions(caller: string): Promise<readonly SessionListing[]>;
  /** The messages that a session remembers, oldest first. */
  history(caller: string, sessionId: string): Promise<readonly HistoryTurn[]>;
  /** The steps of a session after the one of this number, as far as they are kept. */
  events(caller: string, sessionId: string, after: number, limit: number): Promise<EventPage>;
  /**
   * What the sessions did that stem from this one, of the last day: its turns and those of its helpers, each with its
   * children.
   * @throws {StoreUnavailableError}
   */
  family(caller: string, rootSessionId: string): Promise<readonly FamilySession[]>;
  /**
   * Cancels turns of a family, within a second, wherever they run: one by its id, or all that run.
   * @returns the ids of those that ran
   * @throws {StoreUnavailableError}
   */
  cancel(caller: string, rootSessionId: string, turnId?: string): Promise<readonly string[]>;
  /** Adds a message to what a session remembers. */
  note(caller: string, sessionId: string, role: HistoryTurn["role"], content: string): Promise<void>;
}

import type { HistoryTurn, SessionKey } from "../words/session.ts";

/** The part of a session that outlives its process. */
export interface KeptSession extends SessionKey {
  /** Unix milliseconds. */
  readonly usedAt: number;
  /** The number of its newest event. */
  readonly sequence: number;
  /** What a turn that runs was asked is the last of it, as interrupted: that is so when the next process reads it. */
  readonly history: readonly HistoryTurn[];
}

/**
 * Where a store in this process keeps conversations. A write that fails costs no turn: the shelf tells the operator.
 */
export interface SessionShelf {
  /** The session used longest ago first. */
  readonly sessions: () => readonly KeptSession[];
  /** Takes the place of what there was. */
  readonly put: (session: KeptSession) => Promise<void>;
  readonly drop: (session: SessionKey) => Promise<void>;
}

import type { BudgetShare } from "../budget/turn-budget.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";
import type { TurnRequest } from "../words/turn.ts";
import type { RunningSession } from "./running-session.ts";

/**
 * The place of a session among those that calls of one root session have led to. It is of this process: a root's turn
 * takes its family along.
 */
export interface FamilyPlace {
  /** How many calls of agents led here. */
  readonly depth: number;
  /** The definitions that led here, the oldest first. */
  readonly path: readonly string[];
  /** The definitions that the caller saw when the root's turn began. */
  readonly visible: readonly AgentDefinition[];
  /** The part in the parent's budget. */
  readonly share: BudgetShare;
  /** The parent's turn. */
  readonly parent: RunningSession;
  /** The count of the whole family, in this run of its root's turn. */
  readonly count: { sessions: number };
}

/** A turn as this process asks itself for it. */
export interface FamilyTurnRequest extends TurnRequest {
  /** The place of a sub-agent's session in its family. */
  readonly family?: FamilyPlace | undefined;
}

/** How deep agents may call agents. */
export const MAX_DEPTH = 8;
/** Sessions that one turn of a root may lead to. */
export const MAX_FAMILY = 256;

import type { TurnFinish } from "@rockbot/contracts";
import type { ModelUsage } from "@rockbot/llm";

/** One turn of a session of a family, with those of its children: what an operator sees of it. */
export interface FamilySession {
  readonly sessionId: string;
  readonly turnId: string;
  /** The name of the definition; undefined for the plain agent. */
  readonly agent?: string | undefined;
  /** `lost`: the process that ran it ended, and nobody has gone on with it. */
  readonly state: "running" | "ended" | "lost";
  readonly finish?: TurnFinish | undefined;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  /** The usage of its children is part of it. */
  readonly usage: ModelUsage;
  readonly calls: readonly ToolCount[];
  readonly children: readonly FamilySession[];
}

/** The calls of one tool. */
export interface ToolCount {
  readonly tool: string;
  readonly count: number;
  readonly failed: number;
  /** Added up. */
  readonly ms: number;
}

import type { OperatorRight, OperatorSight } from "@rockbot/console/api";

/** A person who looks after the running system, as the policy of now has it. */
export interface Operator {
  readonly name: string;
  readonly may: ReadonlySet<OperatorRight>;
  readonly sees: ReadonlySet<OperatorSight>;
  /** Patterns of the names of callers. */
  readonly callers: readonly string[];
}

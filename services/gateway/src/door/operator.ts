import type { OperatorRight, OperatorSight } from "@rockbot/console/api";
import type { DecisionCode } from "./decision-code.ts";

/** A person who looks after the running system, as the policy of now has it. */
export interface Operator {
  readonly name: string;
  readonly may: ReadonlySet<OperatorRight>;
  readonly sees: ReadonlySet<OperatorSight>;
  /** Patterns of the names of callers. */
  readonly callers: readonly string[];
  /** Asked for with each decision, where programs can act as this operator. @default it is not asked for any */
  readonly decisionCode?: DecisionCode | undefined;
}

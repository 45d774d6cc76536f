import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { HeldTool } from "./pin.ts";

/** The parts of the sentences that tell a model of a definition that is held. */
export interface HeldWords {
  /** The beginning: what is not called. */
  readonly what: string;
  /** Why it waits for an operator. */
  readonly why: string;
  /** What the operator has refused. */
  readonly refused: string;
  /** `Nothing was run.`, or `Nothing was sent.` */
  readonly undone: string;
}

/** Says that what has this definition is not called: it waits for an operator, or was refused. */
export function heldError({ rejectedBy }: HeldTool, { what, why, refused, undone }: HeldWords): ToolError {
  return rejectedBy === undefined
    ? new ToolError(
        ToolErrorCode.Denied,
        `${what} is not called: ${why}. ${undone} An operator has to approve it first. Tell your user, or do without it.`,
        { details: { mayHaveRun: false, reason: "not_approved" } },
      )
    : new ToolError(
        ToolErrorCode.Denied,
        `${what} is not called: an operator has refused ${refused}. ${undone} Do without it.`,
        { details: { mayHaveRun: false, reason: "rejected" } },
      );
}

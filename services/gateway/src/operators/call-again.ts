import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type CallRecord, ownerOf } from "@rockbot/records/journal";
import type { OperatorCall } from "../calls/invoke.ts";
import type { Operator } from "../door/operator.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import { checkSpeaksFor } from "./act-as-caller.ts";
import { OperatorSight } from "./operator.ts";
import type { See } from "./see.ts";

/** A call that an operator may make again. */
export interface FoundCall {
  readonly record: Pick<CallRecord, "toolName" | "caller" | "onBehalfOf" | "hasReadUntrusted" | "state" | "code">;
  /** The arguments' text; undefined if they were not kept. */
  readonly args: string | undefined;
}

/** @returns undefined if no such call is known */
export type FindCall = (toolCallId: string) => Promise<FoundCall | undefined>;

/**
 * The same call once more, as the same caller, for the operator to make.
 * @throws {ToolError} in words if the operator may not, or it cannot be made
 */
export function callAgain(
  operator: Operator,
  found: FoundCall | undefined,
): { readonly as: string; readonly again: NonNullable<OperatorCall["again"]> } {
  if (found === undefined)
    throw new ToolError(HttpErrorCode.NotFound, "Cannot call again: no call of this id is known here");
  const { record, args } = found;
  const as = ownerOf(record);
  checkSpeaksFor(operator, as);
  if (args === undefined)
    throw new ToolError(
      HttpErrorCode.NotFound,
      `Cannot call "${record.toolName}" again: the arguments of this call were not kept. Call the tool with arguments of your own`,
    );
  return { as, again: { toolName: record.toolName, args, hasReadUntrusted: record.hasReadUntrusted === true } };
}

/**
 * Reads the arguments of a call for an operator who makes it again, since the answer may repeat them.
 * @throws {ToolError} if the operator may not see them
 */
export async function readAgain(see: See, { name }: Operator, toolCallId: string): Promise<void> {
  if (await see(OperatorSight.Arguments, toolCallId)) return;
  throw new ToolError(
    ToolErrorCode.Denied,
    `Cannot call again: the answer may repeat the arguments, and the operator "${name}" may not see them. The policy says what it may: "sees" of the operator. Call the tool with arguments of your own`,
  );
}

import type { CallRecord } from "@rockbot/records/journal";
import type { ToolRegistry } from "@rockbot/tools";

/** A call that was made, with what a policy looks at. */
export interface PastCall {
  readonly toolCallId: string;
  /** The effective caller. */
  readonly caller: string;
  readonly tool: string;
  /** When it was made, in Unix milliseconds. */
  readonly at: number;
  readonly isDangerous?: boolean | undefined;
  readonly isReadOnly?: boolean | undefined;
  /** Undefined if nobody has noted whether untrusted content led to it. */
  readonly hasReadUntrusted?: boolean | undefined;
  /** The arguments as JSON. Undefined if they were not kept whole, or if the operator may not see them. */
  readonly arguments?: string | undefined;
}

/** A past call of this record, without its arguments. */
export function pastCall(
  { toolCallId, toolName, caller, onBehalfOf, sent, steps }: CallRecord,
  tool: ReturnType<ToolRegistry["get"]>,
): PastCall {
  const [agent = ""] = caller.split(".", 1);
  return {
    toolCallId,
    caller: onBehalfOf ?? agent,
    tool: toolName,
    at: steps[0]?.at ?? 0,
    isDangerous: tool?.dangerous,
    isReadOnly: tool?.readOnly,
    hasReadUntrusted: sent?.hasReadUntrusted,
  };
}

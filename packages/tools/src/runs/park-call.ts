import { ToolError, ToolErrorCode, type ToolInvokeRequest } from "@rockbot/contracts";
import { StoreFullError, StoreUnavailableError } from "@rockbot/records";
import type { ToolContext } from "../define/tool-executor.ts";
import { hashRequest } from "../messages/hash-request.ts";
import { RecordedError } from "./questions.ts";
import { cannotWait, conflict, notParked, recordGone } from "./run-errors.ts";
import type { ParkedCall, RunKeeper } from "./run-keeper.ts";

/** Has a call join its record, where the claim layer has found that there is one. @throws what else was the matter */
export async function orJoin(
  error: unknown,
  keeper: RunKeeper | undefined,
  request: ToolInvokeRequest,
  context: ToolContext,
): Promise<never> {
  if (!(error instanceof RecordedError)) throw error;
  if (keeper === undefined || context.arrival === undefined) throw error.otherwise;
  const joined = await keeper.join(parkedCall(request, context, { forMs: 0 }), context.arrival);
  throw joined === "conflict" ? conflict(request) : error.otherwise;
}

/** What the record of a call has of it. */
export function parkedCall(
  request: ToolInvokeRequest,
  { caller, operator, deadline }: ToolContext,
  asked: Pick<ParkedCall, "approval" | "question" | "forMs">,
): ParkedCall {
  const { toolName, toolCallId } = request;
  const leftMs = Math.max(0, Math.floor(deadline - performance.now()));
  return { caller, operator, toolName, toolCallId, requestHash: hashRequest(request), leftMs, ...asked };
}

export async function parkCall(
  keeper: RunKeeper | undefined,
  request: ToolInvokeRequest,
  context: ToolContext,
  asked: Pick<ParkedCall, "approval" | "question" | "forMs">,
): Promise<void> {
  const { toolName } = request;
  const { arrival } = context;
  const isUndecidable = asked.approval !== undefined && keeper?.operatorKey === undefined;
  if (keeper === undefined || arrival === undefined || isUndecidable) throw cannotWait(toolName);
  try {
    const parked = await keeper.park(parkedCall(request, context, asked), arrival);
    if (parked === "conflict") throw conflict(request);
    if (parked === "gone") throw recordGone(request);
  } catch (error) {
    if (error instanceof StoreFullError)
      throw new ToolError(ToolErrorCode.Overloaded, `"${toolName}" was not run: ${error.message}.`, {
        details: { reason: "parked", mayHaveRun: false },
        cause: error,
      });
    if (error instanceof StoreUnavailableError) throw notParked(request, error);
    throw error;
  }
}

import { ToolError } from "@rockbot/contracts";
import type { CallRecord } from "@rockbot/records/journal";
import type { ToolCaller } from "@rockbot/tools";
import { errorBody, HttpErrorCode } from "../http/http-error.ts";
import { callIdOf, isCallId } from "./call-headers.ts";

/**
 * The body that `GET /v1/calls/{toolCallId}` answers: the state of a call made through this gateway, and its answer if
 * that is kept. In the place of the id may stand the Idempotency-Key of the call.
 * @param by whose calls are shown; those of others are as if they were none
 * @throws {ToolError} `not_found` if there was no such call, or it is forgotten
 */
export async function describeCall(
  caller: Pick<ToolCaller, "journal" | "getAnswer">,
  idOrKey: string,
  by: string | undefined,
): Promise<object> {
  const ids = [callIdOf(idOrKey, by), ...(isCallId(idOrKey) ? [idOrKey] : [])];
  let call: CallRecord | undefined;
  for (const id of ids) {
    const found = await caller.journal.find(id);
    if (found !== undefined && found.onBehalfOf === by) call ??= found;
  }
  if (call === undefined) {
    throw new ToolError(
      HttpErrorCode.NotFound,
      `Cannot find the call ${JSON.stringify(idOrKey.slice(0, 80))}: none was made through this gateway under that id or Idempotency-Key in the last day`,
    );
  }
  const { toolCallId, toolName, state, code, attempts, deadlineAt, steps } = call;
  const answer = await caller.getAnswer(toolCallId);
  return {
    toolCallId,
    toolName,
    state,
    ...(code === undefined ? {} : { code }),
    attempts,
    deadline: new Date(deadlineAt),
    steps: steps.map(({ step, at }) => ({ step, at: new Date(at) })),
    ...(answer instanceof ToolError
      ? { error: errorBody(answer, { toolCallId, toolName }) }
      : answer === undefined
        ? {}
        : { result: answer }),
  };
}

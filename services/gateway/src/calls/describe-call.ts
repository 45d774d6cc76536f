import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type CallRecord, CallState } from "@rockbot/records/journal";
import { type Run, RunState, type RunStore } from "@rockbot/runs";
import { replyOf, type ToolCaller } from "@rockbot/tools";
import { errorBody, HttpErrorCode } from "../http/http-error.ts";
import { callIdOf, isCallId } from "./call-headers.ts";

/**
 * The body that `GET /v1/calls/{toolCallId}` answers: the state of a call made through this gateway, and its answer if
 * that is kept. In the place of the id may stand the Idempotency-Key of the call.
 * @param by whose calls are shown; those of others are as if they were none. `runs` has those that wait for people, or
 *   run detached
 * @throws {ToolError} `not_found` if there was no such call, or it is forgotten
 */
export async function describeCall(
  caller: Pick<ToolCaller, "journal" | "getAnswer" | "agent">,
  idOrKey: string,
  { by, runs }: { readonly by: string | undefined; readonly runs: RunStore | undefined },
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
  const run = call.code === ToolErrorCode.Pending ? await runOf(call, by ?? caller.agent, runs) : undefined;
  const answer =
    run === undefined ? await caller.getAnswer(toolCallId) : run.state === RunState.Ended ? replyOf(run) : undefined;
  return {
    toolCallId,
    toolName,
    ...(run === undefined ? { state, ...(code === undefined ? {} : { code }) } : standingOf(run)),
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

/** The record that a call was left to, if it is known. */
async function runOf(
  { service, toolCallId }: CallRecord,
  caller: string,
  runs: RunStore | undefined,
): Promise<Run | undefined> {
  if (runs === undefined || service === undefined) return undefined;
  return (await runs.read({ service, caller, toolCallId }))?.run;
}

/** The state of a run in the words of a call's. */
function standingOf({ state, end }: Run): object {
  if (state !== RunState.Ended) return { state: state === RunState.Parked ? "waiting" : state };
  if (end?.code === "ok" || end?.code === "tool_error") return { state: CallState.Answered };
  return { state: CallState.Failed, code: end?.code };
}

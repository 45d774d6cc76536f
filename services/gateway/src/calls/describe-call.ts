import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { isOpen } from "@rockbot/records/journal";
import { RunState } from "@rockbot/runs";
import { replyOf, type ToolCaller } from "@rockbot/tools";
import { errorBody } from "../http/http-error.ts";
import { findOwnCall, type OwnCallOptions } from "./own-call.ts";
import { runStanding } from "./run-standing.ts";

/**
 * The body that `GET /v1/calls/{toolCallId}` answers: the state of a call of the caller, and its answer if that is
 * kept. In the place of the id may stand the Idempotency-Key of the call.
 * @throws {ToolError} `not_found` if there was no such call, or it is forgotten
 */
export async function describeCall(
  caller: Pick<ToolCaller, "journal" | "getAnswer" | "agent" | "knownTools">,
  idOrKey: string,
  options: OwnCallOptions,
): Promise<object> {
  const { record, run: left } = await findOwnCall(caller, idOrKey, options);
  const run = isOpen(record) || record.code === ToolErrorCode.Pending ? left : undefined; // else the journal has more of it
  const { toolCallId, toolName, state, code, attempts, deadlineAt, steps } = record;
  const answer =
    run === undefined ? await caller.getAnswer(toolCallId) : run.state === RunState.Ended ? replyOf(run) : undefined;
  return {
    toolCallId,
    toolName,
    ...(run === undefined ? { state, ...(code === undefined ? {} : { code }) } : runStanding(run)),
    attempts,
    deadline: new Date(deadlineAt),
    steps: steps.map(({ step, at }) => ({ step, at: new Date(at) })),
    ...(run?.progress === undefined
      ? {}
      : { progress: run.progress.map(({ at, ...update }) => ({ ...update, at: new Date(at) })) }),
    ...(answer instanceof ToolError
      ? { error: errorBody(answer, { toolCallId, toolName }) }
      : answer === undefined
        ? {}
        : { result: answer }),
  };
}

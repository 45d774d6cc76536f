import { ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";
import { type Run, RunState, waitsFor } from "@rockbot/runs";

/** The answers of runs that their callers do not get from a tool. Each says what would make the call pass. */

export function pending(run: Run): ToolError {
  const { toolName, toolCallId, state, isKept, hasStarted, runId } = run;
  const waits = state === RunState.Parked ? `waits for ${waitedFor(run)}` : "has not ended yet";
  const then = isKept
    ? `Call it again with the same id and arguments to get its result: ${JSON.stringify(toolCallId)}. Do not make another call of it.`
    : "Nothing was run, and nothing will be. Call it again if it is still wanted.";
  return new ToolError(ToolErrorCode.Pending, `"${toolName}" ${waits}. ${then}`, {
    details: { mayHaveRun: hasStarted, state, toolCallId, runId, isKept },
  });
}

/** The wait of a run in words. A stranger's question is for people, and not for the model that reads this. */
function waitedFor(run: Run): string {
  const { question } = run;
  if (question === undefined || question.origin !== undefined) return waitsFor(run);
  return `${waitsFor(run)} to: ${visibleText(question.message)}`;
}

export function rejected({ toolName }: Run, note: string | undefined): ToolError {
  const why = note === undefined || note === "" ? "" : ` They say: ${visibleText(note)}.`;
  return new ToolError(
    ToolErrorCode.Denied,
    `"${toolName}" was not run: a person rejected the call.${why} Do without it, or call it with other arguments.`,
    { details: { reason: "rejected", mayHaveRun: false } },
  );
}

export function undecided(run: Run): ToolError {
  return new ToolError(
    ToolErrorCode.Timeout,
    `"${run.toolName}" was not run: it waited for ${waitedFor(run)}, and nobody gave it in time. Call it again if it is still wanted.`,
    { details: { reason: "undecided", mayHaveRun: false } },
  );
}

export const callerGone = ({ toolName }: Pick<Run, "toolName">): ToolError =>
  new ToolError(ToolErrorCode.Cancelled, `"${toolName}" was not run: its caller waits for it no more.`, {
    details: { reason: "caller_gone", mayHaveRun: false },
  });

export const cancelledRun = ({ toolName }: Pick<Run, "toolName">, reason: string): ToolError =>
  new ToolError(ToolErrorCode.Cancelled, `"${toolName}" was not run: the call was cancelled: ${reason}.`, {
    details: { mayHaveRun: false },
  });

export const unserved = ({ toolName }: Pick<Run, "toolName">): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `"${toolName}" was not run: no instance of its service took it within 10 minutes. Call it again later.`,
    { details: { mayHaveRun: false } },
  );

export const notKept = ({ toolName }: Pick<Run, "toolName">): ToolError =>
  new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `"${toolName}" has ended, and its result was too large to be kept. Do not call it again for the same purpose.`,
    { details: { mayHaveRun: true, reason: "result_not_kept" } },
  );

/** A call whose record was forgotten, or never written. */
export const recordGone = ({ toolName }: Pick<Run, "toolName">): ToolError =>
  new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `"${toolName}" may have run: the record of this call is not kept any more, as later ones have taken its place. Find out before you call it again.`,
    { details: { mayHaveRun: true, reason: "result_not_kept" } },
  );

/** A run whose store does not answer. It is looked at again, unless its tool has begun. */
export const notGoingOn = ({ toolName }: Pick<Run, "toolName">, cause: Error): ToolError =>
  new ToolError(ToolErrorCode.Unavailable, `"${toolName}" waits on: the store of calls that wait does not answer.`, {
    cause,
  });

/** A call that needs a store of runs, and does not get one. */
export const notParked = ({ toolName }: Pick<Run, "toolName">, cause: Error): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `"${toolName}" was not run: the store of calls that wait does not take it. ${cause.message}. Try again later.`,
    { cause, details: { mayHaveRun: false } },
  );

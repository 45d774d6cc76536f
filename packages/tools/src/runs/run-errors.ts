import { ToolError, ToolErrorCode, type ToolInvokeRequest, visibleText } from "@rockbot/contracts";
import { type Run, RunState, waitsFor } from "@rockbot/runs";

/** The answers of runs that their callers do not get from a tool. Each says what would make the call pass. */

/** The answer to a caller whose call has not ended. */
export function pending(run: Run): ToolError {
  const { toolName, toolCallId, state, isKept, hasStarted, runId } = run;
  const waits = state === RunState.Parked ? `waits for ${waitedFor(run)}` : "has not ended yet";
  const then = isKept
    ? `The call is kept, and its result comes later, under the id ${JSON.stringify(toolCallId)}. Do not call the tool again for it.`
    : run.handle === undefined
      ? "Nothing was run, and nothing will be. Call it again if it is still wanted."
      : `It ${fate(run).words}.`;
  return new ToolError(ToolErrorCode.Pending, `"${toolName}" ${waits}. ${then}`, {
    details: { mayHaveRun: hasStarted || fate(run).mayHaveRun, state, toolCallId, runId, isKept },
  });
}

type Ended = Pick<Run, "toolName" | "handle">;

/** What is known of a run that ends without its tool: one with a handle had begun elsewhere. */
const fate = ({ handle }: Ended): { readonly words: string; readonly mayHaveRun: boolean } =>
  handle === undefined
    ? { words: "was not run", mayHaveRun: false }
    : { words: "had begun and is given up, so that it may have had effects", mayHaveRun: true };

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
    `"${run.toolName}" ${fate(run).words}: it waited for ${waitedFor(run)}, and nobody gave it in time. Call it again if it is still wanted.`,
    { details: { reason: "undecided", mayHaveRun: fate(run).mayHaveRun } },
  );
}

export const callerGone = (run: Ended): ToolError =>
  new ToolError(ToolErrorCode.Cancelled, `"${run.toolName}" ${fate(run).words}: its caller waits for it no more.`, {
    details: { reason: "caller_gone", mayHaveRun: fate(run).mayHaveRun },
  });

export const cancelledRun = (run: Ended, reason: string): ToolError =>
  new ToolError(ToolErrorCode.Cancelled, `"${run.toolName}" ${fate(run).words}: the call was cancelled: ${reason}.`, {
    details: { mayHaveRun: fate(run).mayHaveRun },
  });

export const unserved = (run: Ended): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `"${run.toolName}" ${fate(run).words}: no instance of its service took it within 10 minutes. Call it again later.`,
    { details: { mayHaveRun: fate(run).mayHaveRun } },
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
    `"${toolName}" may have run: nothing more is known of this call. Find out before you call it again.`,
    { details: { mayHaveRun: true } },
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

/** The refusal of a call that has to wait where nothing waits. */
export const cannotWait = (toolName: string): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `"${toolName}" was not run: the call has to wait for a person, and the way by which it came cannot wait. Do without it.`,
    { details: { reason: "cannot_wait", mayHaveRun: false } },
  );

/** The refusal of an id that another call has. */
export function conflict({ toolName, toolCallId }: ToolInvokeRequest): ToolError {
  return new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot call "${toolName}" as ${JSON.stringify(toolCallId)}: the id is taken by a call with another tool or other arguments`,
    { details: { reason: "conflict" } },
  );
}

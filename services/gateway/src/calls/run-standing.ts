import { ToolErrorCode } from "@rockbot/contracts";
import { type CallRecord, CallState, ownerOf } from "@rockbot/records/journal";
import { type Run, RunState, type RunStore, waitsFor } from "@rockbot/runs";

/** How a call stands that was left to a run, in the words of a call, and without texts of its tool. */
export interface RunStanding {
  readonly state: CallState | "waiting" | "ready";
  /** The code of the error it ended in. */
  readonly code?: string;
  /** What it waits for, such as `the approval of ann`. */
  readonly waitsFor?: string;
}

/** The same of a run as it was read. */
export function runStanding(run: Run): RunStanding {
  const { state, end } = run;
  switch (state) {
    case RunState.Parked:
      return { state: "waiting", waitsFor: waitsFor(run) };
    case RunState.Ready:
      return { state };
    case RunState.Running:
      return { state: CallState.Running };
    case RunState.Ended:
      if (end?.code === "ok" || end?.code === "tool_error") return { state: CallState.Answered };
      return { state: CallState.Failed, ...(end === undefined ? {} : { code: end.code }) };
  }
}

/** A record with how its run stands, if it was left to one that is known. */
export type ShownCall = CallRecord & { readonly run?: RunStanding };

/** The same record if the store does not answer: how a run stands is not worth a list. */
export async function withRun(record: CallRecord, runs: Pick<RunStore, "read"> | undefined): Promise<ShownCall> {
  const { code, service, toolCallId } = record;
  if (runs === undefined || service === undefined || code !== ToolErrorCode.Pending) return record;
  const stored = await runs.read({ service, caller: ownerOf(record), toolCallId }).catch(() => undefined);
  return stored === undefined ? record : { ...record, run: runStanding(stored.run) };
}

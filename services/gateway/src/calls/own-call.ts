import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type CallRecord, CallState } from "@rockbot/records/journal";
import type { Run, RunStore } from "@rockbot/runs";
import type { ToolCaller } from "@rockbot/tools";
import { HttpErrorCode } from "../http/http-error.ts";
import { callIdOf, isCallId } from "./call-headers.ts";

export interface OwnCallOptions {
  /** Whose calls are shown; those of others are as if they were none. */
  readonly by: string | undefined;
  /** Has the calls that wait for people, or run detached. */
  readonly runs: RunStore | undefined;
}

/** A call that the caller of a request has made. */
export interface OwnCall {
  readonly record: Pick<CallRecord, "toolCallId" | "toolName" | "state" | "code" | "attempts" | "deadlineAt" | "steps">;
  /** The run of it, if there is one that is known. */
  readonly run?: Run | undefined;
}

/**
 * Finds a call that was made through this gateway, or that a service keeps for the same caller: a run outlives the
 * journal of a process.
 * @param idOrKey its id, or its Idempotency-Key
 * @throws {ToolError} `not_found` if there was no such call, or it is forgotten
 */
export async function findOwnCall(
  caller: Pick<ToolCaller, "journal" | "agent" | "knownTools">,
  idOrKey: string,
  { by, runs }: OwnCallOptions,
): Promise<OwnCall> {
  const ids = [callIdOf(idOrKey, by), ...(isCallId(idOrKey) ? [idOrKey] : [])];
  const of = by ?? caller.agent;
  const readRun = async (service: string, toolCallId: string): Promise<Run | undefined> =>
    (await runs?.read({ service, caller: of, toolCallId }))?.run;
  const services = new Set(runs === undefined ? [] : caller.knownTools().map(({ source }) => source));
  const scan = async (id: string): Promise<Run | undefined> =>
    (await Promise.all([...services].map((service) => readRun(service, id)))).find((run) => run !== undefined);
  for (const id of ids) {
    const record = await caller.journal.find(id);
    if (record === undefined || record.onBehalfOf !== by) continue;
    return { record, run: await (record.service === undefined ? scan(id) : readRun(record.service, id)) };
  }
  for (const id of ids) {
    const run = await scan(id);
    if (run !== undefined) return { record: recordOf(run), run };
  }
  throw new ToolError(
    HttpErrorCode.NotFound,
    `Cannot find the call ${JSON.stringify(idOrKey.slice(0, 80))}: none was made through this gateway under that id or Idempotency-Key in the last day`,
  );
}

const recordOf = ({ toolCallId, toolName, createdAt, expiresAt }: Run): OwnCall["record"] => ({
  toolCallId,
  toolName,
  state: CallState.Failed,
  code: ToolErrorCode.Pending,
  attempts: 1,
  deadlineAt: expiresAt,
  steps: [{ step: CallState.Asked, at: createdAt }],
});

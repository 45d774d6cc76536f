import { hash } from "node:crypto";
import type { AwaitEnd } from "@rockbot/agent";
import { Keep, type ToolAgentChatInput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { sessionNamespace } from "@rockbot/memory";
import type { ResumableCallContext, ToolCaller } from "@rockbot/tools";

type Calls = Pick<ToolCaller, "agent" | "call">;
type Tell = (caller: string, sessionId: string, turnId: string, text: string) => Promise<void>;
type LeftCall = NonNullable<ToolAgentChatInput["after"]>;

/** It is known within this time that a turn has its record, or how a call stands. */
const ANSWER_MS = 10_000;
/** A call is looked for after a tenth of the time that it has waited, within these bounds. */
const LOOK_MS = { least: 2_000, most: 60_000 };
/** The longest wait for people, a day for the tool to run, and one more. */
const GIVEN_UP_MS = 9 * 24 * 3_600_000;
/** A look of a process that has died may leave `outcome_unknown` for a quarter of an hour. After this it is the call's. */
const DOUBTED_MS = 3_600_000;
/** Errors of the way to a call, unless its run says that it ended so. */
const PASSING = /^(pending|unavailable|overloaded|rate_limited|timeout|tool_not_found)$/;

const optionsOf = (calls: Calls, caller: string) =>
  ({
    keep: Keep.Detached,
    timeoutMs: ANSWER_MS,
    isSentAgain: false,
    onBehalfOf: caller === calls.agent ? undefined : caller,
  }) as const;

/**
 * Asks for the turn about the end of a call by a detached call of `agent__chat`: its record outlives this process, and
 * looks for the end. An owner who has not asked for the turn hears that it waits.
 */
export function awaitEnds(calls: Calls, onUnasked: Tell): AwaitEnd {
  return async ({ caller, sessionId, agent, origin, callId, notice, grant, hasReadUntrusted, ...call }) => {
    const message = `The call ${callId} of "${call.tool}", which waited for a person, has ended. Its result follows. Tell the user what came of it, and go on with what has waited for it.`;
    const after: LeftCall = { call_id: callId, since: Date.now(), tool: call.tool, arguments: call.arguments };
    const toolCallId = hash("sha256", JSON.stringify(["after", caller, callId]), "hex").slice(0, 32);
    const about = { toolCallId, sessionId: sessionNamespace(sessionId), grant, hasReadUntrusted };
    const input = { message, session_id: sessionId, origin: "schedule", after, agent };
    await calls.call(tools.agentChat.name, input, { ...optionsOf(calls, caller), ...about }).catch((error: unknown) => {
      const { code, details } = error as Partial<ToolError>;
      if (code !== ToolErrorCode.Pending && details?.["reason"] !== "conflict") throw error; // with one asked for before
    });
    if (origin !== "user") await onUnasked(caller, sessionId, callId, notice);
  };
}

/**
 * Ends the run of a turn that waits for a call, and has it begin again later, until that call has ended.
 * @throws what ends the run
 */
export async function untilEnded(
  calls: Calls | undefined,
  { call_id: toolCallId, tool, arguments: args, since }: LeftCall,
  { caller, hasReadUntrusted, grant, signal, later }: ResumableCallContext,
): Promise<void> {
  const waitedMs = Date.now() - since;
  if (calls === undefined || later === undefined)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      'Cannot ask the agent: "after" is for detached calls, and this one is not detached. Leave "after" out',
    );
  if (waitedMs > GIVEN_UP_MS) return; // the turn reads what there is to know
  const about = { toolCallId, hasReadUntrusted, grant, signal };
  const hasEnded = await calls.call(tool, args, { ...optionsOf(calls, caller), ...about }).then(
    () => true,
    (error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof ToolError)) throw error;
      if (error.code === ToolErrorCode.OutcomeUnknown && waitedMs > DOUBTED_MS) return true;
      const isEnd = error.code !== ToolErrorCode.Pending && error.details?.["runId"] !== undefined;
      return isEnd || !(PASSING.test(error.code) || error.code === ToolErrorCode.OutcomeUnknown);
    },
  );
  if (!hasEnded) await later(Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, waitedMs / 10)));
}

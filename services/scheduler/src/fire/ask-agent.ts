import { type ToolAgentChatOutput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { CallOptions, ToolCaller } from "@rockbot/tools";
import { beginningOf } from "../task/beginning-of.ts";
import type { RunningFire, ScheduledTask, TaskRun } from "../task/scheduled-task.ts";

/** How a run ended, as far as the agent says. */
export interface AskOutcome extends Omit<TaskRun, "fireAt" | "endedAt"> {
  /** No agent took the call for now: it may be made again. @default false */
  readonly isRefused?: boolean | undefined;
}

/** The fire to ask the agent for: the same for each replica that asks. */
export interface AskedFire
  extends Pick<RunningFire, "fireId" | "message" | "hasReadUntrusted" | "grant">,
    Pick<ScheduledTask, "caller" | "sessionId"> {}

/**
 * Makes the one call that a fire is, and says how it ended. Never rejects. A call that the end of this process leaves
 * to the next one does not settle.
 */
export type AskAgent = (fire: AskedFire) => Promise<AskOutcome>;

/** The part of an answer that is kept. */
const MAX_TEXT = 4_000;

/**
 * Asks the agent on the bus, on behalf of the task's caller. The fire's id is the call's id: however often it is made,
 * the agent has one turn of it.
 */
export function askAgent(
  caller: Pick<ToolCaller, "call">,
  { timeoutMs, isDurable }: { readonly timeoutMs: number; readonly isDurable: boolean },
): AskAgent {
  return async ({ fireId, message, sessionId, caller: onBehalfOf, hasReadUntrusted, grant }) => {
    const options: CallOptions = {
      toolCallId: fireId,
      onBehalfOf,
      sessionId: `session/${sessionId}`,
      timeoutMs,
      grant,
      ...(isDurable ? { durable: true } : {}),
      ...(hasReadUntrusted ? { hasReadUntrusted } : {}),
    };
    try {
      const input = { message, session_id: sessionId, origin: "schedule" };
      const { content, structured, isError, trust } = await caller.call(tools.agentChat.name, input, options);
      const answer = (structured ?? {}) as Partial<ToolAgentChatOutput>;
      const hasFailed = isError || answer.finish === "failed" || answer.finish === "refused";
      const text = answer.text ?? content ?? "";
      return {
        outcome: hasFailed ? "failed" : "answered",
        text: beginningOf(hasFailed ? [answer.reason, text].filter(Boolean).join(": ") : text, MAX_TEXT),
        tokens: answer.usage === undefined ? undefined : answer.usage.input_tokens + answer.usage.output_tokens,
        isUntrusted: hasReadUntrusted || trust?.level === "untrusted",
      };
    } catch (error) {
      const text = error instanceof ToolError ? `${error.code}: ${error.message}` : String(error);
      return {
        outcome: "failed",
        text: beginningOf(text, MAX_TEXT),
        isUntrusted: hasReadUntrusted,
        isRefused: isRefused(error, isDurable),
      };
    }
  };
}

/** Under the same id a call is the same where a store is shared. Elsewhere it must not have run. */
function isRefused(error: unknown, isDurable: boolean): boolean {
  return (
    error instanceof ToolError &&
    error.code === ToolErrorCode.Unavailable &&
    (isDurable || error.details?.["mayHaveRun"] !== true)
  );
}

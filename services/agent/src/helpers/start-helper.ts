import type { AgentHost } from "@rockbot/agent";
import { pause } from "@rockbot/base";
import { BusClosedError } from "@rockbot/bus";
import { type ToolAgentHelperInput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { sessionNamespace } from "@rockbot/memory";
import type { ToolCallContext } from "@rockbot/tools";
import { type HelperRun, helperCallOf, patiently } from "./agent-helper.ts";
import { type HelperRecords, isUntold } from "./helper-records.ts";

export interface StartHelperParts {
  readonly records: HelperRecords;
  /** The timeout of the session's turn with the result. */
  readonly turnTimeoutMs: number;
  /** Tells a session by a turn that the call of its helper has failed. */
  readonly tellFailure: HelperRun["tellFailure"];
  /** How long a call that was refused for now is not sent again. @default 2_000 */
  readonly againMs?: number | undefined;
}

export interface StartHelperOptions extends StartHelperParts {
  /** Aborts when this process stops: it waits for nothing more then. */
  readonly stopping: AbortSignal;
  readonly caller: string;
  /** The context of the call that starts the helper. */
  readonly context: ToolCallContext;
  readonly timeoutMs: number;
}

/**
 * Sends the call of a helper, and resolves once it is on its way: the model reads then that the helper has started. So
 * a call that is refused for now is sent again, under its id, until its time is over. If it fails, a turn of the
 * session says so.
 * @throws {ToolError} if the call was refused before it was sent
 */
export async function startHelper(
  { caller: calls, log }: Pick<AgentHost, "caller" | "log">,
  input: ToolAgentHelperInput,
  { records, turnTimeoutMs, tellFailure, againMs = 2_000, stopping, caller, context, timeoutMs }: StartHelperOptions,
): Promise<void> {
  const { task_id: taskId, root_session_id: rootSessionId } = input;
  // The deadline and the cancellation of the turn do not hold for the helper, which goes on beside it. How many calls
  // led here, and what they read, does.
  const parent = { ...context, signal: new AbortController().signal, deadline: performance.now() + timeoutMs };
  const toolCallId = helperCallOf(caller, taskId);
  const sessionId = sessionNamespace(input.session_id);
  const sent = Promise.withResolvers<void>();
  let isSent = false;
  const onSent = (): void => {
    isSent = true;
    sent.resolve();
  };

  async function call(): Promise<void> {
    for (;;) {
      try {
        const leftMs = Math.max(1, parent.deadline - performance.now());
        const about = {
          toolCallId,
          onBehalfOf: caller,
          sessionId,
          parent,
          isSentAgain: true,
          timeoutMs: leftMs,
          onSent,
        };
        return void (await calls.call(tools.agentHelper.name, input, about));
      } catch (error) {
        const isForNow = error instanceof ToolError && error.isRetryable && error.code !== ToolErrorCode.Timeout;
        const waitMs = isForNow ? Math.max(againMs, error.retryAfterMs ?? 0) : 0;
        if (!isSent || !isForNow || performance.now() + waitMs >= parent.deadline) throw error;
        await pause(waitMs, stopping);
      }
    }
  }

  async function failed(error: unknown): Promise<void> {
    sent.reject(error);
    if (isOfTheEnd(error)) return; // the request lies with the bus, or the process that takes the turn up sends it
    log.warn({ taskId, reason: String(error) }, "a helper has failed");
    const progress = (error instanceof ToolError ? `${error.code}: ${error.message}` : String(error))
      .slice(0, 500)
      .toWellFormed();
    const patience = { signal: stopping, deadline: performance.now() + turnTimeoutMs };
    const changes = { state: "failed", endedAt: Date.now(), progress, ...(isSent ? { isUntold: true } : {}) } as const;
    const record = await patiently(patience, () => records.change(caller, rootSessionId, taskId, changes));
    if (!record?.isUntold) return;
    await tellFailure(input, progress, { ...patience, caller, toolCallId, hasReadUntrusted: context.hasReadUntrusted });
    await records.change(caller, rootSessionId, taskId, { isUntold: false }, isUntold);
  }

  call()
    .catch(failed)
    .catch((error: unknown) => log.warn({ taskId, reason: String(error) }, "could not tell of the end of a helper"));
  await sent.promise;
}

/** True if a call has failed because its process closed the bus. */
const isOfTheEnd = (error: unknown): boolean =>
  error instanceof BusClosedError || (error instanceof Error && isOfTheEnd(error.cause));

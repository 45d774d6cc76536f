import { Deadlines } from "@rockbot/async";
import { ToolError, ToolErrorCode, type ToolInvokeRequest } from "@rockbot/contracts";
import type { ToolContext, ToolLayer } from "../tool-executor.ts";

const deadlines = new Deadlines();

/**
 * Ends a call at its deadline: aborts the signal, and answers `timeout` even if the tool ignores it. A call whose time is
 * over before it starts does not start. An aborted call ends with the signal's reason.
 */
export const deadline: ToolLayer = (next) => ({
  execute: (request, context) => inTime(request, context, (signal) => next.execute(request, { ...context, signal }), { mayHaveRun: true }),
});

/**
 * Does something for a call, and ends as `deadline` says: a signal of its own tells it so.
 * @param work may throw before it returns a promise
 * @param mayHaveRun whether the tool may have run once this has begun
 */
export function inTime<T>(
  { toolName }: Pick<ToolInvokeRequest, "toolName">,
  context: Pick<ToolContext, "signal" | "deadline">,
  work: (signal: AbortSignal) => Promise<T>,
  { mayHaveRun }: { readonly mayHaveRun: boolean },
): Promise<T> {
  const { signal } = context;
  const remainingMs = context.deadline - performance.now();
  if (signal.aborted) return Promise.reject(signal.reason);
  if (remainingMs <= 0) return Promise.reject(timeout(toolName, false));

  return new Promise((resolve, reject) => {
    const own = new AbortController();
    const end = (reason: unknown) => {
      rest();
      own.abort(reason);
      reject(reason);
    };
    const onAbort = () => end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const callOff = deadlines.after(remainingMs, () => end(timeout(toolName, mayHaveRun)));
    const rest = () => {
      callOff();
      signal.removeEventListener("abort", onAbort);
    };
    const succeed = (result: T) => {
      rest();
      resolve(result);
    };
    const fail = (error: unknown) => {
      rest();
      reject(error);
    };
    try {
      work(own.signal).then(succeed, fail);
    } catch (error) {
      fail(error);
    }
  });
}

export function timeout(toolName: string, mayHaveRun: boolean): ToolError {
  const state = mayHaveRun ? "it may have run, and had effects" : "it was not started";
  return new ToolError(ToolErrorCode.Timeout, `"${toolName}" gave no result by its deadline: ${state}. Try again with a longer timeout.`, {
    details: { mayHaveRun },
  });
}

import { Deadlines } from "@rockbot/async";
import { ToolError, ToolErrorCode, type ToolInvokeResponse } from "@rockbot/contracts";
import type { ToolLayer } from "../tool-executor.ts";

const deadlines = new Deadlines();

/**
 * Ends a call at its deadline: aborts the signal, and answers `timeout` even if the tool ignores it. A call whose time is
 * over before it starts does not start. An aborted call ends with the signal's reason.
 */
export const deadline: ToolLayer = (next) => ({
  execute(request, context) {
    const { signal } = context;
    const remainingMs = context.deadline - performance.now();
    if (signal.aborted) return Promise.reject(signal.reason);
    if (remainingMs <= 0) return Promise.reject(timeout(request.toolName, false));

    return new Promise<ToolInvokeResponse>((resolve, reject) => {
      const own = new AbortController();
      const end = (reason: unknown) => {
        rest();
        own.abort(reason);
        reject(reason);
      };
      const onAbort = () => end(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      const callOff = deadlines.after(remainingMs, () => end(timeout(request.toolName, true)));
      const rest = () => {
        callOff();
        signal.removeEventListener("abort", onAbort);
      };
      const succeed = (response: ToolInvokeResponse) => {
        rest();
        resolve(response);
      };
      const fail = (error: unknown) => {
        rest();
        reject(error);
      };
      try {
        next.execute(request, { ...context, signal: own.signal }).then(succeed, fail);
      } catch (error) {
        fail(error); // an executor may throw before it returns a promise
      }
    });
  },
});

function timeout(toolName: string, mayHaveRun: boolean): ToolError {
  const state = mayHaveRun ? "it may have run, and had effects" : "it was not started";
  return new ToolError(ToolErrorCode.Timeout, `"${toolName}" gave no result by its deadline: ${state}. Try again with a longer timeout.`, {
    details: { mayHaveRun },
  });
}

import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolLayer } from "../tool-executor.ts";

/**
 * Ends a call at its deadline: aborts the signal, and answers `timeout` even if the tool ignores it. A call whose time is
 * over before it starts does not start. An aborted call ends with the signal's reason.
 */
export const deadline: ToolLayer = (next) => ({
  async execute(request, context) {
    const { signal } = context;
    const remainingMs = context.deadline - performance.now();
    signal.throwIfAborted();
    if (remainingMs <= 0) throw timeout(request.toolName, false);

    const own = new AbortController();
    const ended = Promise.withResolvers<never>();
    const end = (reason: unknown) => {
      own.abort(reason);
      ended.reject(reason);
    };
    const onAbort = () => end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(() => end(timeout(request.toolName, true)), remainingMs);
    try {
      return await Promise.race([next.execute(request, { ...context, signal: own.signal }), ended.promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  },
});

function timeout(toolName: string, mayHaveRun: boolean): ToolError {
  const state = mayHaveRun ? "it may have run, and had effects" : "it was not started";
  return new ToolError(ToolErrorCode.Timeout, `"${toolName}" gave no result by its deadline: ${state}. Try again with a longer timeout.`, {
    details: { mayHaveRun },
  });
}

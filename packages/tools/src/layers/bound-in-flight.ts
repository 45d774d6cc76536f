import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolLayer } from "../define/tool-executor.ts";

/** A guess, so that callers do not come back at once. */
const RETRY_AFTER_MS = 1_000;

/**
 * Bounds the calls that one caller has at once in this process, over all tools that share the layer. A bound below a
 * service's concurrency leaves room for others, whatever the caller does.
 */
export function boundInFlight(): ToolLayer {
  const inFlight = new Map<string, number>();
  return (next) => ({
    async execute(request, context) {
      const { decision, caller } = context;
      if (decision === undefined) return next.execute(request, context);
      const before = inFlight.get(caller) ?? 0;
      if (before >= decision.inFlight) {
        throw new ToolError(
          ToolErrorCode.Overloaded,
          `"${request.toolName}" was not run: "${caller}" has ${before} calls without an answer, the most it may have. Wait for one to end.`,
          { retryAfterMs: RETRY_AFTER_MS, details: { reason: "in_flight", revision: decision.revision } },
        );
      }
      inFlight.set(caller, before + 1);
      try {
        return await next.execute(request, context);
      } finally {
        const left = (inFlight.get(caller) ?? 1) - 1;
        if (left === 0) inFlight.delete(caller);
        else inFlight.set(caller, left);
      }
    },
  });
}

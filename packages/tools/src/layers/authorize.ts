import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolLayer } from "../define/tool-executor.ts";

/**
 * Refuses what the policy does not allow this caller. It also refuses a call that too many calls stand before: a tool that calls itself, directly or
 * by way of others, ends there. Holds the call to the time that the policy gives it.
 */
export const authorize: ToolLayer = (next) => ({
  execute(request, context) {
    const { decision, caller, depth = 0 } = context;
    if (decision === undefined) return next.execute(request, context);
    const { revision } = decision;
    if (!decision.isAllowed) {
      throw new ToolError(
        ToolErrorCode.Denied,
        `"${caller}" may not use "${request.toolName}": the policy forbids it. Do without it; calling again changes nothing.`,
        { details: { reason: "policy", revision } },
      );
    }
    if (depth > decision.depth) {
      throw new ToolError(
        ToolErrorCode.Denied,
        `"${request.toolName}" was not run: ${depth} calls, each made by a tool, led to this one, and at most ${decision.depth} may. Do the rest without more calls.`,
        { details: { reason: "too_deep", depth, revision } },
      );
    }
    if (decision.timeoutMs === undefined) return next.execute(request, context);
    return next.execute(request, { ...context, deadline: Math.min(context.deadline, performance.now() + decision.timeoutMs) });
  },
});

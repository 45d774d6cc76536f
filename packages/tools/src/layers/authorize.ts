import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolContext, ToolLayer } from "../define/tool-executor.ts";

/**
 * Refuses what the policy does not allow this caller. It also refuses a call that too many calls stand before: a tool
 * that calls itself, directly or by way of others, ends there. Holds the call to the time that the policy gives it.
 */
export const authorize: ToolLayer = (next) => ({
  execute(request, context) {
    const { decision, caller, depth = 0 } = context;
    if (decision === undefined) return next.execute(request, context);
    const { revision } = decision;
    if (decision.isDeniedAfterUntrusted) throw afterUntrusted(request.toolName, context, revision);
    if (decision.isDeniedToScripts) {
      throw new ToolError(
        ToolErrorCode.Denied,
        `A script of "${caller}" may not call "${request.toolName}": ${decision.because}. Call it without a script.`,
        { details: { reason: "script_tools", revision } },
      );
    }
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
    return next.execute(request, {
      ...context,
      deadline: Math.min(context.deadline, performance.now() + decision.timeoutMs),
    });
  },
});

function afterUntrusted(toolName: string, { caller, untrustedFrom }: ToolContext, revision: string): ToolError {
  const from = untrustedFrom === undefined ? undefined : placeOf(untrustedFrom);
  return new ToolError(
    ToolErrorCode.Denied,
    `"${caller}" may not use "${toolName}" now: it may have effects, and untrusted content was read before${from === undefined ? "" : `, from ${from}`}. Do without it, and say what you would have done. An operator can allow the tool by its full name under afterUntrusted in the policy.`,
    { details: { reason: "after_untrusted", ...(from === undefined ? {} : { untrustedFrom: from }), revision } },
  );
}

/** The host of a URL, or a name: no more of what a stranger may have written, as a model reads it. */
function placeOf(origin: string): string | undefined {
  const place = /^https?:/.test(origin) ? URL.parse(origin)?.host : origin;
  return place !== undefined && /^[A-Za-z0-9.:_-]{1,128}$/.test(place) ? place : undefined;
}

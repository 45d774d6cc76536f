import { describeFaults, faultsText, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolLayer } from "../define/tool-executor.ts";

/** Refuses arguments that the tool takes and the policy does not take from this caller: all faults in one `denied`. */
export const narrow: ToolLayer = (next) => ({
  execute(request, context) {
    const { decision, input } = context;
    if (decision === undefined || decision.argumentRules.length === 0) return next.execute(request, context);
    const faults = decision.argumentRules.flatMap(({ schema, validate }) => (validate(input) ? [] : describeFaults(validate, schema, input)));
    if (faults.length > 0) {
      throw new ToolError(
        ToolErrorCode.Denied,
        `"${context.caller}" may use "${request.toolName}" only with arguments that the policy allows: ${faultsText(faults)}. Change them.`,
        { details: { reason: "arguments", faults, revision: decision.revision } },
      );
    }
    return next.execute(request, context);
  },
});

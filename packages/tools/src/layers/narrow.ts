import { describeFaults, faultsText, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Decision } from "@rockbot/policy";
import type { ToolLayer } from "../define/tool-executor.ts";

/** Refuses arguments that the tool takes and the policy does not take from this caller: all faults in one `denied`. */
export const narrow: ToolLayer = (next) => ({
  execute(request, context) {
    checkNarrowed(request.toolName, context.input, context);
    return next.execute(request, context);
  },
});

/** @throws {ToolError} `denied` if the policy does not take the arguments from this caller */
export function checkNarrowed(
  tool: string,
  input: unknown,
  { caller, decision }: { readonly caller: string; readonly decision?: Decision | undefined },
): void {
  if (decision === undefined || decision.argumentRules.length === 0) return;
  const faults = decision.argumentRules.flatMap(({ schema, validate }) =>
    validate(input) ? [] : describeFaults(validate, schema, input),
  );
  if (faults.length === 0) return;
  throw new ToolError(
    ToolErrorCode.Denied,
    `"${caller}" may use "${tool}" only with arguments that the policy allows: ${faultsText(faults)}. Change them.`,
    {
      details: { reason: "arguments", faults, revision: decision.revision },
    },
  );
}

import { isPeerName, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { entries, type PolicyDocument } from "@rockbot/policy";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import type { Operator } from "../door/operator.ts";
import { speaksFor } from "./operator.ts";

/**
 * @param what is to be done, as a verb before the caller's name
 * @throws {ToolError} `denied`, in words, if the operator does not speak for this caller
 */
export function checkSpeaksFor(operator: Operator, caller: string, what = "call as"): void {
  if (!isPeerName(caller))
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot ${what} ${JSON.stringify(caller.slice(0, 80))}: this is no name of a caller`,
    );
  if (speaksFor(operator, caller)) return;
  const { name, callers } = operator;
  const known = callers.length === 0 ? "nobody" : callers.join(", ");
  throw new ToolError(
    ToolErrorCode.Denied,
    `Cannot ${what} "${caller}": the operator "${name}" speaks for ${known}. The policy says for whom: "speaksFor" of the operator`,
  );
}

/**
 * Has a request run as the caller that it names in `as`, or as the gateway's own agent.
 * @returns the operator who sends it
 * @throws {ToolError} `denied`, in words, if the operator does not speak for that caller
 */
export function actAsAsked(c: Context<GatewayEnv>, self: string): Operator {
  const as = c.req.query("as") ?? self;
  const operator = c.get("operator");
  checkSpeaksFor(operator, as);
  c.set("caller", as === self ? undefined : as);
  return operator;
}

/** The names of callers that there are, of those that the operator speaks for, sorted. */
export function callersOf(operator: Operator, self: string, { callers }: Pick<PolicyDocument, "callers">): string[] {
  const named = [self, ...entries(callers).map(([name]) => name), ...operator.callers.filter((one) => isPeerName(one))];
  return [...new Set(named)].filter((name) => speaksFor(operator, name)).sort();
}

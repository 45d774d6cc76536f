import type { Verdict, WhatIfRow } from "@rockbot/console/api";
import type { Policy } from "@rockbot/policy";
import type { PastCall } from "./past-calls.ts";

/** A policy's answer to one call, and why. */
interface Judged {
  readonly verdict: Verdict;
  readonly because: string;
}

/**
 * Judges each call by the policy in force and by another one. Calls of one caller and tool that both judge alike are one
 * row. Rows whose verdict changes come first, then those with more calls. Rates, other limits and approvals are left out.
 */
export function judgeCalls(inForce: Policy, proposed: Policy, calls: readonly PastCall[]): WhatIfRow[] {
  const rows = new Map<string, WhatIfRow>();
  for (const call of calls) {
    const before = judge(inForce, call);
    const after = judge(proposed, call);
    const key = JSON.stringify([call.caller, call.tool, before.verdict, after.verdict, after.because]);
    const row = rows.get(key);
    rows.set(key, {
      caller: call.caller,
      tool: call.tool,
      inForce: before.verdict,
      tried: after.verdict,
      because: after.because,
      calls: (row?.calls ?? 0) + 1,
      newest: row !== undefined && row.newest.at >= call.at ? row.newest : { toolCallId: call.toolCallId, at: call.at },
    });
  }
  const isSame = (row: WhatIfRow): number => (row.inForce === row.tried ? 1 : 0);
  return [...rows.values()].sort((a, b) => isSame(a) - isSame(b) || b.calls - a.calls);
}

function judge(policy: Policy, call: PastCall): Judged {
  const { isAllowed, because, argumentRules } = policy.decide(call);
  if (!isAllowed) return { verdict: "denied", because };
  if (argumentRules.length === 0) return { verdict: "allowed", because };
  if (call.arguments === undefined)
    return { verdict: "unknown", because: "a rule asks for its arguments, which are not kept or not for you to see" };
  const input: unknown = JSON.parse(call.arguments);
  return argumentRules.every(({ validate }) => validate(input))
    ? { verdict: "allowed", because }
    : { verdict: "denied", because: "a rule does not take its arguments" };
}

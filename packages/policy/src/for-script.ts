import type { Decision, Use } from "./decision.ts";
import { type Bound, readGrant } from "./grant.ts";
import type { Policy } from "./policy.ts";
import { findGlob } from "./tool-glob.ts";

/**
 * The decision about a call that a script makes. It restricts the caller's own. The tool has to be on the caller's list
 * for scripts. It has to be within each bound of the session, too.
 * @param grant the bounds, as the call carries them
 */
export function forScript(policy: Policy, use: Use, grant: string | undefined): Decision {
  const decision = policy.decide(use);
  if (!decision.isAllowed) return decision;
  if (!policy.scriptToolsOf(use.caller).includes(use.tool))
    return denied(decision, `scripts.allow of "${use.caller}" does not name it`);
  const bounds = readGrant(grant);
  const makers = bounds.map(({ maker }) => policy.decide({ ...use, caller: maker }));
  for (const [index, bound] of bounds.entries()) {
    if (findGlob(bound.tools, use.tool) === undefined) return denied(decision, `${named(bound)} does not have it`);
    if (makers[index]?.isAllowed !== true) return denied(decision, `the maker of ${named(bound)} may not use it`);
  }
  if (bounds.length === 0) return decision;
  return {
    ...decision,
    argumentRules: [...decision.argumentRules, ...makers.flatMap(({ argumentRules }) => argumentRules)],
  };
}

const named = ({ kind, name }: Bound): string => `the ${kind} "${name}"`;

const denied = (decision: Decision, because: string): Decision => ({
  ...decision,
  isAllowed: false,
  because,
  isDeniedToScripts: true,
});

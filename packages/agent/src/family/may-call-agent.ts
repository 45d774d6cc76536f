import type { PolicyHolder } from "@rockbot/policy";
import { childToolOf } from "./child-names.ts";

/**
 * True if the policy lets a caller call an agent, be handed over to it, and have its conversation be it. It only leads
 * to calls, each with a decision.
 */
export const mayCallAgent = (policy: PolicyHolder | undefined, caller: string, agent: string): boolean =>
  policy?.current().decide({ caller, tool: childToolOf(agent), isReadOnly: true }).isAllowed ?? true;

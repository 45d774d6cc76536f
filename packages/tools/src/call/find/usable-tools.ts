import type { Decision, Policy, PolicyHolder } from "@rockbot/policy";
import type { ToolRegistration, ToolRegistry } from "../../define/tool-registry.ts";

/** The tools that a policy lets a caller use, in their order. The tools of this process are for everybody. */
export function usableBy(
  caller: string,
  policy: Policy,
  tools: readonly ToolRegistration[],
): readonly ToolRegistration[] {
  return tools.filter(
    ({ name, dangerous, source }) =>
      source === LOCAL || policy.decide({ caller, tool: name, isDangerous: dangerous }).isAllowed,
  );
}

/**
 * The policy's answer on a caller's use of a tool. It is undefined for tools of this process. Before a tool is
 * announced, only its service knows if it is read-only, and decides about untrusted content.
 */
export function decide(
  caller: string,
  policy: PolicyHolder | undefined,
  registry: ToolRegistry,
  tool: string,
  hasReadUntrusted: boolean,
): Decision | undefined {
  if (policy === undefined) return undefined;
  const registration = registry.get(tool);
  if (registration === undefined) return policy.current().decide({ caller, tool });
  const { source, dangerous: isDangerous, readOnly: isReadOnly } = registration;
  return source === LOCAL
    ? undefined
    : policy.current().decide({ caller, tool, isDangerous, isReadOnly, hasReadUntrusted });
}

/** The registry as the caller may see it: it lists what the policy lets the caller use, now. */
export function usableTools(registry: ToolRegistry, policy: PolicyHolder, caller: string): ToolRegistry {
  let listed:
    | { readonly of: readonly ToolRegistration[]; readonly by: Policy; readonly tools: readonly ToolRegistration[] }
    | undefined;
  return {
    ...registry,
    getTools() {
      const [of, by] = [registry.getTools(), policy.current()];
      if (listed?.of !== of || listed.by !== by) listed = { of, by, tools: Object.freeze(usableBy(caller, by, of)) };
      return listed.tools;
    },
  };
}

/** The source of tools that need no bus. */
const LOCAL = "local";

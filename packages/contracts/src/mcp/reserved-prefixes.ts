/**
 * How names of tools of ours begin, before `__`: those of HTTP services, of the agent and its wisps, and two that the
 * words of agents know.
 */
export const RESERVED_PREFIXES: readonly string[] = ["rest", "agent", "router", "subagent", "wisp"];

/** The reserved prefix that a tool's name begins with. Case does not matter. */
export function reservedPrefixOf(toolName: string): string | undefined {
  const name = toolName.toLowerCase();
  return RESERVED_PREFIXES.find((prefix) => name.startsWith(`${prefix}__`));
}

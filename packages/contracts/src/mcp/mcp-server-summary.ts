import type { McpServerSummary } from "../generated/types.ts";

const MAX_NAMED = 10;

/** The summary of an MCP server for a caller that may use these of its tools. */
export function mcpServerSummary(
  serverName: string,
  toolNames: readonly string[],
  displayName: string | null = null,
): McpServerSummary {
  const shown = toolNames.slice(0, MAX_NAMED).join(", ");
  const summary =
    toolNames.length === 0
      ? "Provides no tools."
      : `Provides ${toolNames.length} tool(s): ${shown}${toolNames.length > MAX_NAMED ? ", …" : "."}`;
  return { serverName, displayName, summary, toolCount: toolNames.length, toolNames: [...toolNames] };
}

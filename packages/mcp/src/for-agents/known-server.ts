import { type McpServerSummary, nearestName, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { VisibleIndex } from "./visible-index.ts";

const MAX_NAMED = 20;
const AWAITED_RETRY_MS = 2_000;

/** The server of the name; case does not matter. @throws {ToolError} that names the nearest */
export function knownServer(index: VisibleIndex, name: string): McpServerSummary {
  const server = index.find(name);
  if (server !== undefined) return server;
  if (index.isAwaited(name)) {
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `The MCP server "${name}" cannot be used now: it is being connected, or is away. Nothing was run. Try again later.`,
      { retryAfterMs: AWAITED_RETRY_MS, details: { mayHaveRun: false } },
    );
  }
  const names = index.servers.map(({ serverName }) => serverName);
  const nearest = index.mayUseSome(name) ? nearestName(name, names) : undefined; // else no other server takes its place
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : "";
  const help =
    nearest !== undefined
      ? `did you mean "${nearest}"?`
      : names.length > 0
        ? `known: ${names.slice(0, MAX_NAMED).join(", ")}${more}`
        : "none is known";
  throw new ToolError(ToolErrorCode.ToolNotFound, `There is no MCP server "${name}": ${help}`);
}

import { definedBy } from "../foreign-words.ts";
import type { ContentTrust } from "../generated/types.ts";
import { announcedMcpName } from "./announced-mcp-name.ts";

/**
 * The words of an MCP server about these of its tools. They are approved if all of them are.
 * @param trustOf by the names that they are announced with
 */
export const mcpServerTrust = (
  serverName: string,
  toolNames: readonly string[],
  trustOf: (toolName: string) => ContentTrust | undefined,
) =>
  definedBy(
    `mcp:${serverName}`,
    toolNames.length > 0 && toolNames.every((name) => trustOf(announcedMcpName(serverName, name))?.isApproved === true),
  );

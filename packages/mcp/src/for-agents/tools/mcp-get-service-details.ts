import { nearestTools, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { knownServer } from "../known-server.ts";
import type { ManagementClient } from "../management-client.ts";
import type { TrustOf } from "../named-tools.ts";
import type { VisibleIndex } from "../visible-index.ts";

/**
 * `mcp_get_service_details`: descriptions and schemas of those of a server's tools that the caller may use, or of one
 * of them.
 */
export function mcpGetServiceDetails(
  indexOf: (caller: string) => VisibleIndex,
  management: ManagementClient,
  trustOf: TrustOf,
): Tool {
  return defineTool(tools.mcpGetServiceDetails, async ({ server_name, tool_name }, { signal, deadline, caller }) => {
    const index = indexOf(caller);
    const { serverName } = knownServer(index, server_name);
    const told = await management.details(serverName, {
      onBehalfOf: caller,
      timeoutMs: deadline - performance.now(),
      signal,
    });
    const all = told.filter(({ name }) => index.mayUse(serverName, name));
    const chosen =
      tool_name === undefined ? all : all.filter(({ name }) => name.toLowerCase() === tool_name.toLowerCase());
    if (tool_name !== undefined && chosen.length === 0) {
      const { names, help } = nearestTools(
        tool_name,
        all.map(({ name }) => name),
      );
      throw new ToolError(
        ToolErrorCode.ToolNotFound,
        `The MCP server "${serverName}" offers no tool "${tool_name}"${help === undefined ? "." : `; ${help}`}`,
        help === undefined ? {} : { trust: trustOf({ serverName, toolNames: [...names] }) },
      );
    }
    const shown = chosen.map(({ parametersSchema, ...tool }) => ({
      ...tool,
      parameters: parsedIfPossible(parametersSchema ?? "{}"),
    }));
    return {
      content: JSON.stringify(shown),
      structured: { tools: [...chosen] },
      trust: trustOf({ serverName, toolNames: chosen.map(({ name }) => name) }),
    };
  });
}

/** The text itself if it is not JSON: a bridge of another make may say what it likes. */
function parsedIfPossible(schema: string): unknown {
  try {
    return JSON.parse(schema);
  } catch {
    return schema;
  }
}

import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { ManagementClient } from "../management-client.ts";

/** `mcp_unregister_server`: of a server that the caller has registered. */
export function mcpUnregisterServer(management: Pick<ManagementClient, "unregister">): Tool {
  return defineTool(
    tools.mcpUnregisterServer,
    async ({ server_name: given }, { signal, deadline, caller, hasReadUntrusted }) => {
      const serverName = given.toLowerCase();
      await management.unregister(serverName, {
        onBehalfOf: caller,
        timeoutMs: deadline - performance.now(),
        signal,
        hasReadUntrusted,
      });
      return {
        content: `The MCP server "${serverName}" is removed successfully.`,
        structured: { server_name: serverName },
      };
    },
  );
}

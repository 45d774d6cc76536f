import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { ManagementClient } from "../management-client.ts";

/** `mcp_register_server`: asks the bridge, which decides. */
export function mcpRegisterServer(management: Pick<ManagementClient, "register">): Tool {
  return defineTool(tools.mcpRegisterServer, async ({ name, type = "auto", url, command, args = [], env = {} }, { signal, deadline, hasReadUntrusted }) => {
    const server = {
      serverName: name,
      type: command === undefined ? type : "stdio",
      url: url ?? null,
      command: command ?? null,
      args,
      env: env as Record<string, string>,
    };
    const summary = await management.register(server, { timeoutMs: deadline - performance.now(), signal, hasReadUntrusted });
    return { content: `The MCP server "${name}" is registered successfully: ${summary}`, structured: { server_name: name, summary } };
  });
}

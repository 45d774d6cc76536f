import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { ManagementClient } from "../management-client.ts";

/** `mcp_register_server`: asks the bridge, which decides. The server is the caller's. */
export function mcpRegisterServer(management: Pick<ManagementClient, "register">): Tool {
  return defineTool(tools.mcpRegisterServer, async (input, { signal, deadline, caller, hasReadUntrusted }) => {
    const { type = "auto", url, command, env = {} } = input;
    const serverName = oneOf("server_name", input.server_name, "name", input.name);
    if (serverName === undefined) throw invalid("server_name: is required and missing");
    const server = {
      serverName,
      type: command === undefined ? type : "stdio",
      url: url ?? null,
      command: command ?? null,
      args: oneOf("arguments", input.arguments, "args", input.args) ?? [],
      env: env as Record<string, string>,
    };
    const summary = await management.register(server, {
      onBehalfOf: caller,
      timeoutMs: deadline - performance.now(),
      signal,
      hasReadUntrusted,
    });
    return {
      content: `The MCP server "${serverName}" is registered successfully: ${summary}`,
      structured: { server_name: serverName, summary },
    };
  });
}

/** Reads the one argument that may have two names. @throws {ToolError} if they say different things */
function oneOf<Value>(
  name: string,
  value: Value | undefined,
  otherName: string,
  other: Value | undefined,
): Value | undefined {
  if (value !== undefined && other !== undefined && JSON.stringify(value) !== JSON.stringify(other))
    throw invalid(`${name} and ${otherName} are two names for the same, and differ: leave ${otherName} out`);
  return value ?? other;
}

const invalid = (fault: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot call "mcp_register_server": ${fault}`);

import { announcedMcpName, textResponse, type Validator } from "@rockbot/contracts";
import type { McpServer, McpTool } from "@rockbot/mcp";
import type { Tool } from "@rockbot/tools";

/** Whatever is an object: the server knows its own schema best, and checks against it. */
const anyObject: Validator<unknown> = (value: unknown): value is unknown => typeof value === "object" && value !== null;

/** One tool of an MCP server as a tool of the bus. What it gives is labelled as a stranger's. */
export function mcpTool(server: McpServer, tool: McpTool): Tool {
  const isTrusted = server.trustsAnnotations;
  return {
    definition: {
      name: announcedMcpName(server.name, tool.name),
      description: tool.description === "" ? `The tool "${tool.name}" of the MCP server "${server.name}", which does not describe it.` : tool.description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      readOnly: isTrusted && tool.annotations.readOnly,
      idempotent: isTrusted && (tool.annotations.readOnly || tool.annotations.idempotent),
      validateInput: anyObject,
    },
    executor: {
      async execute(request, { input, deadline, signal, progress }) {
        const { content, structured, isError } = await server.callTool(tool, input as Record<string, unknown>, {
          timeoutMs: deadline - performance.now(),
          signal,
          onProgress: progress,
        });
        return textResponse(request, content, {
          isError,
          ...(structured === undefined ? {} : { structured: structured as Record<string, unknown> }),
          trust: { level: "untrusted", origin: `mcp:${server.name}` },
        });
      },
    },
  };
}

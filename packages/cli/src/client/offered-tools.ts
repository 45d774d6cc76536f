import { newId } from "@rockbot/contracts";
import { callIdOf } from "@rockbot/gateway";
import type { ToolSource } from "@rockbot/mcp/serve";
import { MAX_TIMEOUT_MS } from "@rockbot/tools";
import type { ToolClient } from "./tool-client.ts";

/** The tools that a command's client reaches, in the form that an MCP client gets. */
export function offeredTools(client: ToolClient): ToolSource {
  return {
    maxTimeoutMs: MAX_TIMEOUT_MS,
    listTools: () => client.listTools(),
    findTool: async (name) => (await client.listTools()).find((tool) => tool.name === name),
    getGuides: () => client.getGuides(),
    toolCallIdOf: (key) => (key === undefined ? newId() : callIdOf(key, undefined)),
    call: (name, args, { isKeyed, ...options }) => client.call(name, args, { ...options, keepAnswer: isKeyed }),
  };
}

import { newId } from "@rockbot/contracts";
import { callIdOf } from "@rockbot/gateway";
import type { ToolSource } from "@rockbot/mcp/serve";
import { MAX_TIMEOUT_MS } from "@rockbot/tools";
import type { ToolClient } from "./tool-client.ts";

/** What a command's client reaches, as an MCP client is offered it. */
export function offeredTools(client: ToolClient): ToolSource {
  return {
    maxTimeoutMs: MAX_TIMEOUT_MS,
    listTools: () => client.listTools(),
    getGuides: () => client.getGuides(),
    toolCallIdOf: (key) => (key === undefined ? newId() : callIdOf(key, undefined)),
    call: (name, args, { isKeyed, ...options }) => client.call(name, args, { ...options, keepAnswer: isKeyed }),
  };
}

import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { ServerIndex } from "./server-index.ts";

/** `mcp_list_services`: what this agent has heard of, without a call to anybody. */
export function mcpListServices(index: ServerIndex): Tool {
  return defineTool(tools.mcpListServices, async () => {
    const services = [...index.servers];
    return { content: JSON.stringify(services), structured: { services } };
  });
}

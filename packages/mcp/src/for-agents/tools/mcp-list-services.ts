import { tools, trustOfAll } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { TrustOf } from "../named-tools.ts";
import type { VisibleIndex } from "../visible-index.ts";

/** `mcp_list_services`: what has been heard of and the caller may use, without a call to anybody. */
export function mcpListServices(indexOf: (caller: string) => VisibleIndex, trustOf: TrustOf): Tool {
  return defineTool(tools.mcpListServices, async (_, { caller }) => {
    const services = [...indexOf(caller).servers];
    return {
      content: JSON.stringify(services, (_, value) => value ?? undefined),
      structured: { services },
      trust: trustOfAll(services.map(trustOf)),
    };
  });
}

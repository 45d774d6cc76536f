import { type OfferedMcpTools, offerMcpTools } from "@rockbot/mcp/for-agents";
import type { AgentHost, AgentPlugin } from "./agent-plugin.ts";

/** The MCP servers that an agent's callers may see, once `mcpToolProxy` has started for it. */
const offeredTo = new WeakMap<object, OfferedMcpTools>();

/** The servers that the agent of a bus's calling side knows; undefined without `mcpToolProxy`. */
export const mcpServersOf = ({ caller }: Pick<AgentHost, "caller">): OfferedMcpTools | undefined =>
  offeredTo.get(caller);

/**
 * The tools for MCP servers behind a bridge on the bus: `mcp_list_services`, `mcp_get_service_details`,
 * `mcp_invoke_tool`. Callers whose policy names them in full also have `mcp_register_server` and
 * `mcp_unregister_server`, where the bridge takes such requests.
 */
export const mcpToolProxy = (): AgentPlugin => ({
  name: "MCP tools",
  async start({ name, bus, caller, policy, log }) {
    const offered = await offerMcpTools(bus, caller, {
      agent: name,
      policy,
      mayRegister: () => policy !== undefined,
      log,
    });
    offeredTo.set(caller, offered);
    return offered;
  },
});

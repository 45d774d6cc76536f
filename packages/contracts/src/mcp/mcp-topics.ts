/** The service that puts MCP servers behind the bus. */
export const MCP_BRIDGE = "mcp-bridge";

/** Its topics, those of the .NET original. Answers to `manage` go to `mcp.manage.response.{agent}`. */
export const mcpTopics = {
  invoke: "tool.invoke.mcp",
  manage: "mcp.manage",
  /** Agents ask here for the index of servers, and for servers to be looked at again. */
  refresh: "tool.meta.mcp.refresh",
  /** Where an agent hears the index. None can be named `refresh`. */
  index: (agent: string): string => `tool.meta.mcp.${agent}`,
  /** Where the replica of the bridge that has a server with state takes calls of it from the others. */
  owner: (instance: string): string => `mcp.owner.${instance}`,
  /** Where a replica hears the answers to the calls that it has handed over. */
  handedOver: (instance: string): string => `mcp.owner.${instance}.answer`,
} as const;

/** The subscription that takes what comes on `manage`. The dot keeps it apart from the names of services. */
export const MCP_MANAGE_SUBSCRIPTION = `${MCP_BRIDGE}.manage`;

import {
  announcedMcpName,
  MCP_BRIDGE,
  type McpServerSummary,
  mcpServerSummary,
  mcpServerTrust,
  parseJson,
  trustOfAll,
} from "@rockbot/contracts";
import type { ToolCaller, ToolRegistration } from "@rockbot/tools";
import type { ServiceEntry, ServiceTool } from "./service-entry.ts";

/**
 * The MCP servers that a caller may see: those of approved definitions, with the tools that it may use. `offerMcpTools`
 * gives it.
 */
export interface VisibleServers {
  serversOf(caller: string): readonly McpServerSummary[];
}

/** Tools that each model has anyway: none has to find them. */
export const alwaysThere: ReadonlySet<string> = new Set([
  "list_tool_guides",
  "get_tool_guide",
  "search_known_services",
  "get_tool_details",
  "invoke_tool",
]);

/**
 * The services that a caller may turn to, by what is announced: its MCP servers, and the other tools by the service
 * that runs them. Sorted, each time anew.
 * @param by on whose behalf calls are made
 */
export function serviceEntriesOf(
  caller: Pick<ToolCaller, "toolsOf"> & Partial<Pick<ToolCaller, "summaryOf">>,
  by: string,
  servers?: VisibleServers,
): readonly ServiceEntry[] {
  const tools = new Map(caller.toolsOf(by).map((tool) => [tool.name, tool]));
  const mcp = (servers?.serversOf(by) ?? []).map((server) => mcpEntry(server, tools));
  const groups = new Map<string, ToolRegistration[]>();
  for (const tool of tools.values()) {
    if (alwaysThere.has(tool.name) || (tool.source === MCP_BRIDGE && tool.name.includes("__"))) continue;
    const group = groups.get(tool.source) ?? [];
    group.push(tool);
    groups.set(tool.source, group);
  }
  const built = [...groups].map(
    ([id, group]): ServiceEntry => ({
      id,
      type: "tool",
      summary: caller.summaryOf?.(id) ?? listingOf(group),
      tools: group.map(serviceToolOf),
      trust: trustOfAll(group.map(({ trust }) => trust)),
    }),
  );
  return [...built.toSorted((a, b) => (a.id < b.id ? -1 : 1)), ...mcp];
}

const listingOf = (group: readonly ToolRegistration[]): string =>
  mcpServerSummary(
    "",
    group.map(({ name }) => name),
  ).summary ?? "";

function mcpEntry(
  { serverName, displayName, summary, toolNames = [] }: McpServerSummary,
  tools: ReadonlyMap<string, ToolRegistration>,
): ServiceEntry {
  return {
    id: serverName,
    type: "mcp",
    summary: [displayName, summary].filter((text) => text != null && text !== "").join(": "),
    tools: toolNames.map((name) => {
      const announced = tools.get(announcedMcpName(serverName, name));
      return { ...(announced === undefined ? { description: "" } : serviceToolOf(announced)), name };
    }),
    trust: mcpServerTrust(serverName, toolNames, (name) => tools.get(name)?.trust),
  };
}

const told = new WeakMap<ToolRegistration, ServiceTool>();

/** A registration never changes, so that its schema is read once. */
function serviceToolOf(registration: ToolRegistration): ServiceTool {
  const known = told.get(registration);
  if (known !== undefined) return known;
  const { name, description, parametersSchema } = registration;
  const tool = { name, description, parameters: parameterNames(parametersSchema).join(" ") };
  told.set(registration, tool);
  return tool;
}

function parameterNames(schema: string): string[] {
  const parsed = parseJson(schema);
  const { properties } = (parsed.ok ? parsed.value : {}) as { readonly properties?: unknown };
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}

import { announcedMcpName, nearestName, nearestTools, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ServiceEntry } from "../services/service-entry.ts";

/** A tool as its service names it, and as it is called. */
export interface ResolvedTool {
  readonly entry: ServiceEntry;
  readonly callName: string;
}

/** The service of the id; case does not matter. @throws {ToolError} that names the nearest */
export function knownService(entries: readonly ServiceEntry[], id: string): ServiceEntry {
  const [service, ...others] = [
    ...entries.filter((entry) => entry.id === id),
    ...entries.filter((entry) => entry.id.toLowerCase() === id.toLowerCase()),
  ];
  const withTools = [service, ...others].find((entry) => (entry?.tools.length ?? 0) > 0) ?? service;
  if (withTools !== undefined) return withTools;
  const nearest = nearestName(
    id,
    entries.map((entry) => entry.id),
  );
  throw new ToolError(
    ToolErrorCode.ToolNotFound,
    `There is no service "${id}"${orSearch(nearest === undefined ? undefined : `did you mean "${nearest}"?`)}`,
  );
}

/**
 * The tool of a name, which may be the one it is called by, or its own name at its MCP server. Case does not matter.
 * @throws {ToolError} that names the nearest, or the services that have one of the name
 */
export function resolveTool(entries: readonly ServiceEntry[], name: string, service?: string): ResolvedTool {
  const among = service === undefined ? entries : [knownService(entries, service)];
  const all = among.flatMap((entry) =>
    entry.tools.map((tool) => ({ entry, own: tool.name, callName: callNameOf(entry, tool.name) })),
  );
  const wanted = name.toLowerCase();
  const found =
    all.find(({ callName }) => callName === name) ??
    all.find(({ callName }) => callName.toLowerCase() === wanted) ??
    onlyOne(
      all.filter(({ own }) => own.toLowerCase() === wanted),
      name,
    );
  if (found !== undefined) return found;
  const names = all.map(({ callName }) => callName);
  throw new ToolError(
    ToolErrorCode.ToolNotFound,
    `There is no tool "${name}"${service === undefined ? "" : ` of the service "${service}"`}${orSearch(nearestTools(name, names).help)}`,
  );
}

export const callNameOf = ({ id, type }: ServiceEntry, tool: string): string =>
  type === "mcp" ? announcedMcpName(id, tool) : tool;

function onlyOne(
  found: readonly (ResolvedTool & { readonly own: string })[],
  name: string,
): (ResolvedTool & { readonly own: string }) | undefined {
  if (found.length < 2) return found[0];
  const names = found.map(({ callName }) => callName).join(", ");
  throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot tell which tool "${name}" is meant: ${names}`);
}

const orSearch = (help: string | undefined): string =>
  help === undefined ? ". Find the right one with search_known_services." : `; ${help}`;

import { mcpServerSummary } from "@rockbot/contracts";
import { isListing } from "../services/service-documents.ts";
import type { ServiceEntry } from "../services/service-entry.ts";
import { callNameOf } from "./resolve-tool.ts";

/** The tool by which a session goes on with a hit that has no tools. */
const BY = { a2a: "invoke_agent", guide: "get_tool_guide", skill: "get_skill" } as const;

/** The entries that a session can go on with, where it has fewer tools than its caller. */
export function usableEntries(
  entries: readonly ServiceEntry[],
  mayUse: (tool: string) => boolean,
): readonly ServiceEntry[] {
  return entries.flatMap((entry): readonly ServiceEntry[] => {
    const { type, summary } = entry;
    if (type !== "mcp" && type !== "tool") return mayUse(BY[type]) ? [entry] : [];
    if (type === "mcp" && mayUse("mcp_invoke_tool")) return [entry];
    const tools = entry.tools.filter(({ name }) => mayUse(callNameOf(entry, name)));
    if (tools.length === entry.tools.length) return [entry];
    const names = tools.map(({ name }) => name);
    return names.length === 0
      ? []
      : [{ ...entry, tools, summary: isListing(summary) ? (mcpServerSummary("", names).summary ?? "") : summary }];
  });
}

import { type PartFailures, tools, trustOfAll } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { ServiceEntry } from "../services/service-entry.ts";
import type { ServiceHit } from "../services/service-hit.ts";
import type { ServiceSearch } from "../services/service-search.ts";

const MAX_RESULTS = 5;

/**
 * `search_known_services`.
 * @param entriesOf the entries that a caller may see, in a session with this grant; all of the search's own source if
 * left out
 * @param missingOf the sources of a caller that could not be read
 */
export function searchTool(
  search: Pick<ServiceSearch, "search">,
  entriesOf?: (caller: string, grant?: string) => readonly ServiceEntry[] | Promise<readonly ServiceEntry[]>,
  missingOf?: (caller: string) => Promise<PartFailures | undefined>,
): Tool {
  return defineTool(tools.searchKnownServices, async ({ query }, { caller, grant }) => {
    const hits = await search.search(query, MAX_RESULTS, await entriesOf?.(caller, grant));
    const missing = await missingOf?.(caller);
    const structured = { ...(missing === undefined ? {} : { missing }), results: hits.map(resultOf) };
    return { content: JSON.stringify(structured), structured, trust: trustOfAll(hits.map(({ entry }) => entry.trust)) };
  });
}

function resultOf({ entry: { id, type, summary, skills }, relevance, top }: ServiceHit) {
  const names = top.length === 0 ? {} : skills === undefined ? { top_tools: [...top] } : { top_skills: [...top] };
  return { id, type, summary, relevance_score: Math.round(relevance * 100) / 100, ...names };
}

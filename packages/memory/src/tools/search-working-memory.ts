import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { OwnedMemory } from "../working-memory.ts";
import { entryLine, entryValue, fittingLines, tagsIn, trustOf } from "./entries-text.ts";
import { withMemory } from "./memory-failure.ts";
import type { MemoryToolsOptions } from "./memory-tools-options.ts";
import { wholePrefix } from "./session-keys.ts";

/** `search_working_memory`: the session's entries that fit, each with its beginning. */
export function searchWorkingMemory(memory: OwnedMemory, { namespace, pageChars }: MemoryToolsOptions): Tool {
  return defineTool(tools.searchWorkingMemory, async ({ query, category, tags, namespace: asked }) => {
    const prefix = wholePrefix(asked, namespace);
    const hits = await withMemory(() => memory.search({ prefix, query, category, tags: tagsIn(tags) }));
    const lines = fittingLines(
      hits.map((hit) => `${entryLine(hit)}: ${hit.beginning.replace(/\s+/g, " ")}`),
      pageChars - 200,
    );
    const shown = hits.slice(0, lines.length);
    const head =
      hits.length === 0 ? "Nothing in working memory fits." : `${hits.length} found in working memory, the best first:`;
    return { content: [head, ...lines].join("\n"), structured: { entries: shown.map(entryValue) }, ...trustOf(shown) };
  });
}

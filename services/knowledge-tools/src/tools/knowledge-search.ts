import {
  type KnowledgeHit,
  type ToolKnowledgeSearchInput,
  type ToolKnowledgeSearchOutput,
  tools,
} from "@rockbot/contracts";
import { fuseRanks, type Meanings } from "@rockbot/search";
import { defineTool, type Tool } from "@rockbot/tools";
import { resolveFilters } from "../find/filters.ts";
import type { KnowledgeItem } from "../item/knowledge-item.ts";
import { snippetOf } from "../text/snippet.ts";
import { queryTerms } from "../text/terms.ts";
import { isoTime, type KnowledgeDesk, trustOf, withStore } from "./knowledge-desk.ts";

const DEFAULT_RESULTS = 10;
/** Items that are ranked by meaning, and how much of each. */
const MEANT = 50;
const MEANT_CHARACTERS = 2_000;

/**
 * `knowledge_search`: items that the caller may read, by words and filters. What of the filters is not known is said
 * beside what was found.
 */
export function knowledgeSearch(
  { store, kinds, meanings, readerOf }: KnowledgeDesk,
  definition = tools.knowledgeSearch,
): Tool {
  return defineTool<ToolKnowledgeSearchInput, ToolKnowledgeSearchOutput>(definition, (input, { caller, log }) =>
    withStore("search", log, async () => {
      const { scopes } = readerOf(caller);
      const named = {
        kinds: input.kinds ?? [],
        authors: input.authors ?? [],
        categories: input.categories ?? [],
        tags: input.tags ?? [],
      };
      const { facets, errors } = await resolveFilters(named, { store, kinds, scopes });
      const terms = queryTerms(input.query);
      const limit = input.max_results ?? DEFAULT_RESULTS;
      const count = meanings === undefined ? limit : Math.max(limit, MEANT);
      const byWords =
        terms.length === 0
          ? []
          : await store.get(await store.match({ terms, facets: [scopes, ...facets], limit: count }));
      const found = (await ranked(byWords, input.query, meanings)).slice(0, limit);
      const items = found.map((item) => hitOf(item, terms));
      return { content: textOf(items, errors), structured: { items, errors: [...errors] }, ...trustOf(found) };
    }),
  );
}

/** By words and meaning, or by words alone while there are no vectors. */
async function ranked(
  byWords: readonly KnowledgeItem[],
  query: string,
  meanings: Meanings | undefined,
): Promise<readonly KnowledgeItem[]> {
  const texts = byWords.map((item) => ({ item, text: `${item.title}\n${item.body.slice(0, MEANT_CHARACTERS)}` }));
  const byMeaning = await meanings?.rank(query, texts);
  return byMeaning === undefined ? byWords : fuseRanks([byWords, byMeaning]).map(({ item }) => item);
}

function hitOf(
  { id, kind, title, author, categories, tags, body, updatedAt }: KnowledgeItem,
  terms: readonly string[],
): KnowledgeHit {
  return {
    id,
    kind,
    title,
    author,
    categories: [...categories],
    tags: [...tags],
    snippet: snippetOf(body, terms),
    updated_at: isoTime(updatedAt),
  };
}

function textOf(items: readonly KnowledgeHit[], errors: readonly string[]): string {
  const found =
    items.length === 0 ? "Nothing was found. Try other words, or fewer filters." : items.map(lineOf).join("\n\n");
  return errors.length === 0 ? found : `${found}\n\nErrors: ${errors.join(" ")}`;
}

function lineOf(
  { id, kind, title, author, categories, tags, snippet, updated_at }: KnowledgeHit,
  index: number,
): string {
  const labels = [
    `${kind} by ${author}`,
    ...categories.map((name) => `in ${name}`),
    ...tags.map((name) => `#${name}`),
    updated_at.slice(0, 10),
  ];
  return `${index + 1}. ${oneLine(title)} (id ${id}; ${oneLine(labels.join(", "))})\n   ${snippet}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ");

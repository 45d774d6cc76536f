import { saidBy, tools } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";
import { defineTool, type Tool } from "@rockbot/tools";
import { askTwice } from "../ask-twice.ts";
import type { SearchProvider, SearchResult } from "../search/search-provider.ts";

export interface WebSearchOptions {
  readonly load: (fetch: PublicFetch) => Promise<SearchProvider>;
  readonly fetch: PublicFetch;
  /** How many results when the call does not say. */
  readonly maxResults: number;
}

/**
 * `web_search`: the results of a search service, one line for each. Titles and snippets are strangers' text and come
 * escaped.
 */
export function webSearch({ load, fetch, maxResults }: WebSearchOptions): Tool {
  return defineTool(
    tools.webSearch,
    async ({ query, count = maxResults, ...filters }, { signal, deadline, progress }) => {
      progress({ message: "Searching" });
      const provider = await load(fetch);
      const { results, unanswered = [] } = await askTwice(() => provider.search({ query, count, ...filters }, signal), {
        signal,
        deadline,
      });
      const { escapeText, inLink } = await import("@rockbot/page/text");
      const line = ({ title, url, snippet }: SearchResult, i: number): string => {
        const link = `${i + 1}. [${inLink(escapeText(title === "" ? nameOf(url) : title))}](${url.replaceAll(/[()]/g, encodeURIParenthesis)})`;
        return snippet === "" ? link : `${link} — ${escapeText(snippet)}`;
      };
      const lines = results.length === 0 ? ["No results found."] : results.map(line);
      if (unanswered.length > 0)
        lines.push("", `Results may be missing. These gave no answer: ${escapeText(unanswered.join(", "))}`);
      return {
        content: lines.join("\n"),
        structured: {
          query,
          results: [...results],
          ...(unanswered.length === 0 ? {} : { unanswered: [...unanswered] }),
        },
        trust: saidBy(provider.baseUrl),
      };
    },
  );
}

/** What a result without a title is called. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname === "/" ? "" : pathname}`.slice(0, 200);
}

const encodeURIParenthesis = (char: string): string => (char === "(" ? "%28" : "%29");

import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { BraveSearchOptions, SearchResult } from "./brave-search.ts";

export interface WebSearchOptions extends BraveSearchOptions {
  /** How many results when the call does not say. */
  readonly maxResults: number;
}

/** `web_search`: what the Brave Search API finds, one line for each result. Titles and snippets are strangers' text and come escaped. */
export function webSearch({ maxResults, ...brave }: WebSearchOptions): Tool {
  return defineTool(tools.webSearch, async ({ query, count = maxResults }, { signal, progress }) => {
    progress({ message: "Searching" });
    // The HTML parser it needs is no part of the service's start.
    const { braveSearch } = await import("./brave-search.ts");
    const results = await braveSearch(query, Math.min(count, 20), brave, signal);
    const { escapeMarkdown } = await import("@rockbot/page/text");
    const line = ({ title, url, snippet }: SearchResult, i: number): string => {
      const link = `${i + 1}. [${escapeMarkdown(title)}](${url.replaceAll(/[()]/g, encodeURIParenthesis)})`;
      return snippet === "" ? link : `${link} — ${escapeMarkdown(snippet)}`;
    };
    return {
      content: results.length === 0 ? "No results found." : results.map(line).join("\n"),
      structured: { query, results: [...results] },
      trust: { level: "untrusted", origin: brave.baseUrl },
    };
  });
}

const encodeURIParenthesis = (char: string): string => (char === "(" ? "%28" : "%29");

import { saidBy, ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import { errorBody, jsonBody, type PublicFetch, type PublicResponse } from "@rockbot/edge/outbound";
import { plainText } from "@rockbot/page/text";
import { malformedAnswer, searchError, searchLimitError } from "./search-errors.ts";
import type { SearchProvider, SearchQuery, SearchResult } from "./search-provider.ts";
import { searchResult } from "./search-result.ts";

export interface SearxngSearchOptions {
  /** Scheme, host, port and path of the instance. */
  readonly baseUrl: string;
  readonly fetch: PublicFetch;
}

/** A page has as many results as its engines gave; more than so many pages are not asked for. */
const MAX_PAGES = 3;

/**
 * The JSON API of a SearXNG instance. It cannot be asked for a number of results, so that further pages are asked for
 * until there are enough. Results keep the instance's order: their scores are no promise of the API.
 * @see https://docs.searxng.org/dev/search_api.html
 */
export function searxngSearch({ baseUrl, fetch }: SearxngSearchOptions): SearchProvider {
  const endpoint = `${baseUrl.replace(/\/+$/, "")}/search`;

  async function ask(parameters: URLSearchParams, page: number, signal: AbortSignal): Promise<SearxngPage> {
    parameters.set("pageno", String(page));
    await using response = await fetch(`${endpoint}?${parameters}`, {
      signal,
      maxRedirects: 0,
      headers: { accept: "application/json" },
    });
    if (response.status !== 200) throw searxngError(response, await errorBody(response));
    return pageOf(await jsonBody(response));
  }

  return {
    baseUrl,
    async search(query, signal) {
      const parameters = parametersOf(query);
      const found = new Map<string, SearchResult>();
      const first = await ask(parameters, 1, signal);
      const unanswered = [...first.unanswered];
      for (let page = 1, results = first.results; ; page++) {
        const known = found.size;
        for (const result of results) if (!found.has(result.url)) found.set(result.url, result);
        if (found.size >= query.count || found.size === known || page === MAX_PAGES) break;
        // What the first page has is an answer, also where the instance has had enough of us.
        results = await ask(parameters, page + 1, signal).then(
          (next) => next.results,
          (error: unknown) => {
            unanswered.push(`page ${page + 1}: ${error instanceof ToolError ? error.code : "no answer"}`);
            return [];
          },
        );
        signal.throwIfAborted();
      }
      if (found.size === 0 && first.unanswered.length > 0) throw noEngineAnswers(first.unanswered);
      return { results: [...found.values()].slice(0, query.count), unanswered };
    },
  };
}

interface SearxngPage {
  readonly results: readonly SearchResult[];
  readonly unanswered: readonly string[];
}

/** @throws {ToolError} */
function parametersOf({ query, country, freshness, safesearch }: SearchQuery): URLSearchParams {
  const parameters = new URLSearchParams({ q: query, format: "json" });
  if (country !== undefined) parameters.set("language", languageOf(country.toUpperCase()));
  if (freshness !== undefined) {
    if (freshness.includes("to")) {
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        "Cannot search between two dates: this search service knows day, week, month and year only.",
      );
    }
    parameters.set("time_range", freshness);
  }
  if (safesearch !== undefined) parameters.set("safesearch", { off: "0", moderate: "1", strict: "2" }[safesearch]);
  return parameters;
}

/** SearXNG has no countries but languages of countries, so it is the country's most spoken one. */
function languageOf(country: string): string {
  if (country === "ALL") return "all";
  const { language } = new Intl.Locale(`und-${country}`).maximize();
  return `${language}-${country}`;
}

/** @throws {ToolError} if it is no page of results */
function pageOf(body: unknown): SearxngPage {
  const found = valueAt(body, "/results");
  if (!Array.isArray(found)) throw malformedAnswer();
  const silent = valueAt(body, "/unresponsive_engines");
  return {
    results: found.slice(0, 200).flatMap((value: unknown) => {
      return (
        searchResult({
          title: valueAt(value, "/title"),
          url: valueAt(value, "/url"),
          snippet: valueAt(value, "/content"),
        }) ?? []
      );
    }),
    unanswered: Array.isArray(silent) ? silent.slice(0, 20).flatMap(engineText) : [],
  };
}

/** An engine that gave no answer, as the instance says it: its name and a reason. */
function engineText(engine: unknown): string[] {
  const texts = (Array.isArray(engine) ? engine : [engine])
    .filter((it): it is string => typeof it === "string")
    .slice(0, 2);
  const line = texts.map((it) => plainText(it, 80)).join(": ");
  return line === "" ? [] : [line];
}

const noEngineAnswers = (unanswered: readonly string[]): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `Cannot search: there are no results, and of the engines behind the search service these gave no answer: ${unanswered.slice(0, 5).join(", ")}. Try again later.`,
    { details: { unanswered: [...unanswered] }, trust: saidBy("the search service") },
  );

function searxngError(response: PublicResponse, body: unknown): ToolError {
  const { status, retryAfterMs } = response;
  const details = { status };
  if (status === 403) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      "Cannot search: the SearXNG instance refuses the format json (status 403). The operator has to add json to search.formats in its settings.yml.",
      { isRetryable: false, details },
    );
  }
  if (status === 401) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      "Cannot search: the SearXNG instance asks for a login (status 401). The operator has to open it.",
      {
        isRetryable: false,
        details,
      },
    );
  }
  if (status === 404) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      "Cannot search: there is no SearXNG instance (status 404). The operator has to correct SEARXNG_BASE_URL.",
      {
        isRetryable: false,
        details,
      },
    );
  }
  if (status === 429) return searchLimitError(retryAfterMs, details);
  const said = valueAt(body, "/error") ?? valueAt(body, "/message");
  const detail = typeof said === "string" ? plainText(said, 200) : "";
  return searchError({ response, baseUrlSetting: "SEARXNG_BASE_URL", detail, details });
}

import { ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import { errorBody, jsonBody, type PublicFetch, type PublicResponse } from "@rockbot/edge/outbound";
import { plainText } from "@rockbot/page/text";
import { malformedAnswer, searchError, searchLimitError } from "./search-errors.ts";
import type { SearchProvider, SearchQuery, SearchResult } from "./search-provider.ts";
import { searchResult } from "./search-result.ts";

export interface BraveSearchOptions {
  readonly apiKey: string;
  /** Scheme, host and port of the API. */
  readonly baseUrl: string;
  readonly fetch: PublicFetch;
}

/**
 * The Brave Search API. Results without a readable URL are left out. The key goes to `baseUrl` only: a redirect is not
 * followed.
 * @see https://api-dashboard.search.brave.com/app/documentation/web-search
 */
export function braveSearch({ apiKey, baseUrl, fetch }: BraveSearchOptions): SearchProvider {
  return {
    baseUrl,
    async search(query, signal) {
      const url = new URL("/res/v1/web/search", baseUrl);
      url.search = parametersOf(query).toString();
      await using response = await fetch(url.href, {
        signal,
        maxRedirects: 0,
        headers: { accept: "application/json", "x-subscription-token": apiKey },
      });
      if (response.status !== 200) throw braveError(response, await errorBody(response), apiKey);
      return { results: resultsOf(await jsonBody(response)).slice(0, query.count) };
    },
  };
}

const freshnessOf: Readonly<Record<string, string>> = { day: "pd", week: "pw", month: "pm", year: "py" };

function parametersOf({ query, count, country, freshness, safesearch }: SearchQuery): URLSearchParams {
  const parameters = new URLSearchParams({ q: query, count: String(count) });
  if (country !== undefined) parameters.set("country", country.toUpperCase());
  if (freshness !== undefined) parameters.set("freshness", freshnessOf[freshness] ?? freshness);
  if (safesearch !== undefined) parameters.set("safesearch", safesearch);
  return parameters;
}

/**
 * The API leaves `web`, and its results, out where it has found nothing.
 * @throws {ToolError} if there is something else in their place
 */
function resultsOf(body: unknown): SearchResult[] {
  const web = valueAt(body, "/web") ?? {};
  const found = valueAt(web, "/results") ?? [];
  if (body === undefined || valueAt(body, "/error") !== undefined || typeof web !== "object" || !Array.isArray(found))
    throw malformedAnswer();
  return found.slice(0, 100).flatMap((value: unknown) => {
    return (
      searchResult({
        title: valueAt(value, "/title"),
        url: valueAt(value, "/url"),
        snippet: valueAt(value, "/description"),
      }) ?? []
    );
  });
}

/** The documented statuses: 401 and 403 for keys, 422 for keys and parameters, 429 for limits. */
function braveError(response: PublicResponse, body: unknown, apiKey: string): ToolError {
  const { status, header, retryAfterMs } = response;
  const code = textAt(body, "/error/code").slice(0, 60);
  const detail = plainText(textAt(body, "/error/detail").replaceAll(apiKey, "[key]"), 200);
  const details = { status, ...(/^[A-Z_]+$/.test(code) ? { reason: code } : {}) };
  const aboutKey =
    status === 401 ||
    status === 403 ||
    (status === 422 &&
      (/TOKEN|SUBSCRIPTION/.test(code) ||
        JSON.stringify(valueAt(body, "/error/meta") ?? "").includes("x-subscription-token")));
  if (aboutKey) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot search: the search service refuses the API key (status ${status}). The operator has to set a valid BRAVE_API_KEY.`,
      { isRetryable: false, details },
    );
  }
  if (status === 429)
    return searchLimitError(
      retryAfterMs ?? resetMs(header("x-ratelimit-remaining"), header("x-ratelimit-reset")),
      details,
    );
  return searchError({ response, baseUrlSetting: "BRAVE_BASE_URL", detail, details });
}

/**
 * The longest wait among the limits that are used up: both headers list them in the same order, the resets in seconds.
 */
function resetMs(remaining: string | undefined, reset: string | undefined): number | undefined {
  const left = numbersIn(remaining);
  const waits = numbersIn(reset).filter((_, i) => left.length === 0 || (left[i] ?? 0) <= 0);
  return waits.length === 0 ? undefined : Math.max(...waits) * 1000;
}

const numbersIn = (header: string | undefined): number[] =>
  (header ?? "")
    .split(",")
    .slice(0, 10)
    .flatMap((text) => (/^\s*\d{1,9}\s*$/.test(text) ? [Number(text)] : []));

function textAt(value: unknown, pointer: string): string {
  const text = valueAt(value, pointer);
  return typeof text === "string" ? text : "";
}

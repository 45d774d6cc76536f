import { ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import { jsonBody, type PublicFetch, type PublicResponse } from "@rockbot/edge/outbound";
import { plainText } from "@rockbot/page/text";

export interface BraveSearchOptions {
  readonly apiKey: string;
  /** Scheme, host and port of the API. */
  readonly baseUrl: string;
  readonly fetch: PublicFetch;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

const MAX_TITLE = 200;
const MAX_SNIPPET = 600;
const MAX_URL = 2048;

/**
 * Asks the Brave Search API. Results without a title or a readable URL are left out. The key goes to `baseUrl` only: a
 * redirect is not followed.
 * @see https://api-dashboard.search.brave.com/app/documentation/web-search
 */
export async function braveSearch(
  query: string,
  count: number,
  { apiKey, baseUrl, fetch }: BraveSearchOptions,
  signal: AbortSignal,
): Promise<readonly SearchResult[]> {
  const url = new URL("/res/v1/web/search", baseUrl);
  url.search = new URLSearchParams({ q: query, count: String(count) }).toString();
  await using response = await fetch(url.href, { signal, maxRedirects: 0, headers: { accept: "application/json", "x-subscription-token": apiKey } });
  const body = await jsonBody(response);
  if (response.status !== 200) throw braveError(response, body, apiKey);
  if (body === undefined)
    throw new ToolError(ToolErrorCode.Unavailable, "Cannot search: the search service's answer is not what it documents. Try again later.");
  const found = valueAt(body, "/web/results");
  return Array.isArray(found) ? found.slice(0, 100).flatMap(toResult).slice(0, count) : [];
}

function toResult(value: unknown): SearchResult[] {
  const title = plainText(textAt(value, "/title"), MAX_TITLE);
  const url = URL.parse(textAt(value, "/url").slice(0, MAX_URL + 1));
  if (title === "" || url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "" || url.href.length > MAX_URL) return [];
  return [{ title, url: url.href, snippet: plainText(textAt(value, "/description"), MAX_SNIPPET) }];
}

/** The documented statuses: 401 and 403 for keys, 422 for keys and parameters, 429 for limits. */
function braveError({ status, header, retryAfterMs }: PublicResponse, body: unknown, apiKey: string): ToolError {
  const code = textAt(body, "/error/code").slice(0, 60);
  const detail = plainText(textAt(body, "/error/detail").replaceAll(apiKey, "[key]"), 200);
  const details = { status, ...(/^[A-Z_]+$/.test(code) ? { reason: code } : {}) };
  const aboutKey =
    status === 401 ||
    status === 403 ||
    (status === 422 && (/TOKEN|SUBSCRIPTION/.test(code) || JSON.stringify(valueAt(body, "/error/meta") ?? "").includes("x-subscription-token")));
  if (aboutKey) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot search: the search service refuses the API key (status ${status}). The operator has to set a valid BRAVE_API_KEY.`,
      { isRetryable: false, details },
    );
  }
  if (status === 429) {
    const waitMs = retryAfterMs ?? resetMs(header("x-ratelimit-remaining"), header("x-ratelimit-reset"));
    const when = waitMs === undefined ? "later" : `in ${Math.ceil(waitMs / 1000)} s`;
    return new ToolError(ToolErrorCode.RateLimited, `Cannot search: the search service's request limit is reached. Try again ${when}.`, {
      retryAfterMs: waitMs,
      details,
    });
  }
  if (status >= 500)
    return new ToolError(ToolErrorCode.Unavailable, `Cannot search: the search service answered with status ${status}. Try again later.`, {
      retryAfterMs,
      details,
    });
  if (status === 400 || status === 422) {
    return new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot search: the search service does not accept the query${detail === "" ? "" : ` (${detail})`}. Use at most 50 words and 400 characters.`,
      { details },
    );
  }
  if (status >= 300 && status < 400) {
    return new ToolError(
      ToolErrorCode.ExecutionFailed,
      "Cannot search: the search service redirects elsewhere, where the API key is not sent. The operator has to correct braveBaseUrl.",
      { details },
    );
  }
  return new ToolError(ToolErrorCode.ExecutionFailed, `Cannot search: the search service answered with status ${status}.`, { details });
}

/** The longest wait among the limits that are used up: both headers list them in the same order, the resets in seconds. */
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

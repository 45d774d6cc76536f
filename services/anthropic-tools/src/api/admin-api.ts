import { isRecord } from "@rockbot/base";
import { saidBy, ToolError, ToolErrorCode, valueAt } from "@rockbot/contracts";
import { jsonBody, type PublicFetch, type PublicResponse } from "@rockbot/edge/outbound";

/** Where the Admin API is, and with which key it is asked. */
export interface AdminApiOptions {
  readonly apiKey: string;
  /** Scheme, host and port. */
  readonly baseUrl: string;
  readonly fetch: PublicFetch;
}

/** One entry of a report as it came. */
export type Entry = Readonly<Record<string, unknown>>;

/** Values of one name are sent as `name[]`, each. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A report of so many pages is too long for a model. */
const MAX_PAGES = 100;

/**
 * All entries of a report, page after page.
 * @throws {ToolError} `invalid_arguments` in the API's own words, `rate_limited`, `unavailable`, or `too_large` above
 * 100 pages
 * @see https://docs.claude.com/en/api/admin-api/usage-cost/get-messages-usage-report
 */
export async function readReport(
  path: string,
  query: Query,
  api: AdminApiOptions,
  signal: AbortSignal,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let page: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const body = await ask(urlOf(path, { ...query, page }, api.baseUrl), api, signal);
    const { data, has_more: hasMore, next_page: nextPage } = body;
    if (!Array.isArray(data)) throw unreadable();
    if (!data.every(isRecord)) throw unreadable();
    entries.push(...data);
    if (hasMore !== true) return entries;
    // A page that leads to itself would be read for ever.
    if (typeof nextPage !== "string" || nextPage === page) throw unreadable();
    page = nextPage;
  }
  throw new ToolError(
    ToolErrorCode.TooLarge,
    `Cannot read the report: it has more than ${MAX_PAGES} pages. Ask for a shorter time, longer rows or fewer groups.`,
  );
}

function urlOf(path: string, query: Query, baseUrl: string): string {
  const url = new URL(path, baseUrl);
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "string") url.searchParams.append(name, value);
    else for (const item of value ?? []) url.searchParams.append(`${name}[]`, item);
  }
  return url.href;
}

async function ask(url: string, { apiKey, fetch }: AdminApiOptions, signal: AbortSignal): Promise<Entry> {
  const headers = { accept: "application/json", "anthropic-version": "2023-06-01", "x-api-key": apiKey };
  await using response = await fetch(url, { signal, maxRedirects: 0, headers });
  const body = await jsonBody(response);
  if (response.status !== 200) throw statusFault(response, body, apiKey);
  if (body === undefined) throw unreadable();
  return body;
}

/** The answer is none that the API documents: a report of it would be wrong. */
export const unreadable = (): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    "Cannot read the report: the API's answer is not what it documents. Try again later.",
  );

/** The documented statuses: 401 and 403 for keys, 400 and 404 for parameters, 429 for limits, 529 for overload. */
function statusFault({ status, retryAfterMs }: PublicResponse, body: Entry | undefined, apiKey: string): ToolError {
  const message = valueAt(body, "/error/message");
  const said = typeof message === "string" ? message.replaceAll(apiKey, "[key]").slice(0, 300) : "";
  const details = { status };
  if (status === 401 || status === 403) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot read the report: Anthropic refuses the key (status ${status}). The operator has to set an Admin API key as ANTHROPIC_ADMIN_API_KEY.`,
      { isRetryable: false, details },
    );
  }
  if (status === 429)
    return new ToolError(ToolErrorCode.RateLimited, "Cannot read the report: the API's request limit is reached.", {
      retryAfterMs,
      details,
    });
  if (status >= 500) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot read the report: the API answered with status ${status}. Try again later.`,
      {
        retryAfterMs,
        details,
      },
    );
  }
  const words = said === "" ? "" : `: ${said}`;
  const quoting = { details, ...(said === "" ? {} : { trust: saidBy("anthropic.com") }) };
  if (status === 400 || status === 404) {
    return new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot read the report: the API does not take the arguments${words}`,
      quoting,
    );
  }
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read the report: the API answered with status ${status}${words}`,
    quoting,
  );
}

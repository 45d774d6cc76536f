import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The Admin API's reports, on this machine. */
export interface AnthropicAdminServer extends AsyncDisposable {
  /** What to set as the API's base URL. */
  readonly url: string;
  readonly apiKey: string;
  /** The paths with queries, as they came. */
  readonly requests: readonly string[];
  /** What reports hold from now on: for each path, its entries in time. */
  readonly entries: Record<string, readonly object[]>;
  /** Answers of the next requests in place of reports, first come first served. */
  readonly faults: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }[];
  /** How many entries a page has. */
  pageSize: number;
}

const REPORTS: Readonly<
  Record<
    string,
    {
      readonly groups: readonly string[];
      readonly widths: Readonly<Record<string, number>>;
      readonly filters: readonly string[];
    }
  >
> = {
  "/v1/organizations/usage_report/messages": {
    groups: ["api_key_id", "workspace_id", "model", "service_tier", "context_window"],
    widths: { "1d": 31, "1h": 168, "1m": 1440 },
    filters: ["models[]", "workspace_ids[]", "api_key_ids[]", "service_tiers[]", "context_window[]"],
  },
  "/v1/organizations/cost_report": { groups: ["workspace_id", "description"], widths: { "1d": 31 }, filters: [] },
  "/v1/organizations/usage_report/claude_code": { groups: [], widths: {}, filters: [] },
};

/**
 * A local server of the usage and cost reports of Anthropic's Admin API: the key in `x-api-key`, `anthropic-version`,
 * RFC 3339 times, `limit` within what `bucket_width` allows, `group_by[]` of the report's own, pages by `next_page`,
 * and the API's error bodies. A parameter that it does not know is an error.
 * @param apiKey the only key that it takes
 * @see https://docs.claude.com/en/api/admin-api/usage-cost/get-messages-usage-report
 */
export async function startAnthropicAdminServer(
  apiKey = `sk-ant-admin01-${randomUUID()}`,
): Promise<AnthropicAdminServer> {
  const requests: string[] = [];
  const faults: AnthropicAdminServer["faults"] = [];
  const entries: AnthropicAdminServer["entries"] = {};
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    requests.push(`${url.pathname}${url.search}`);
    const fault = faults.shift();
    if (fault !== undefined) return void response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    if (request.headers["x-api-key"] !== apiKey)
      return fail(response, 401, "authentication_error", "invalid x-api-key");
    if (request.headers["anthropic-version"] === undefined)
      return fail(response, 400, "invalid_request_error", "anthropic-version: header is required");
    if (request.method !== "GET" || REPORTS[url.pathname] === undefined)
      return fail(response, 404, "not_found_error", "Not found");
    const wrong = faultOf(url);
    if (wrong !== undefined) return fail(response, 400, "invalid_request_error", wrong);
    const all = entries[url.pathname] ?? [];
    const start = Number(url.searchParams.get("page")?.slice("page_".length) ?? 0);
    const hasMore = start + api.pageSize < all.length;
    const body = {
      data: all.slice(start, start + api.pageSize),
      has_more: hasMore,
      next_page: hasMore ? `page_${start + api.pageSize}` : null,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const api: AnthropicAdminServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey,
    requests,
    entries,
    faults,
    pageSize: 1_000,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return api;
}

function faultOf({ pathname, searchParams }: URL): string | undefined {
  const { groups, widths, filters } = REPORTS[pathname] as (typeof REPORTS)[string];
  const isDaily = Object.keys(widths).length === 0;
  const known = new Set([
    "starting_at",
    "limit",
    "page",
    ...(isDaily ? [] : ["ending_at", "bucket_width", "group_by[]", ...filters]),
  ]);
  const strange = [...searchParams.keys()].find((name) => !known.has(name));
  if (strange !== undefined) return `${strange}: Extra inputs are not permitted`;
  const start = searchParams.get("starting_at");
  const form = isDaily ? /^\d{4}-\d{2}-\d{2}$/ : /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
  for (const time of [start, searchParams.get("ending_at") ?? start])
    if (time === null || !form.test(time)) return "starting_at: Input should be a valid datetime";
  const width = searchParams.get("bucket_width") ?? "1d";
  const most = isDaily ? 1_000 : widths[width];
  if (most === undefined) return `bucket_width: Input should be one of ${Object.keys(widths).join(", ")}`;
  const limit = Number(searchParams.get("limit") ?? 1);
  if (!Number.isInteger(limit) || limit < 1 || limit > most) return `limit: Input should be between 1 and ${most}`;
  const group = searchParams.getAll("group_by[]").find((name) => !groups.includes(name));
  if (group !== undefined) return `group_by: Input should be one of ${groups.join(", ")}`;
  const page = searchParams.get("page");
  return page === null || /^page_\d+$/.test(page) ? undefined : "page: Invalid page token";
}

function fail(response: ServerResponse, status: number, type: string, message: string): void {
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ type: "error", error: { type, message }, request_id: `req_${randomUUID()}` }));
}

import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

/** One result, as far as callers may rely on its fields. */
export interface BraveResult {
  readonly title?: unknown;
  readonly url?: unknown;
  readonly description?: unknown;
}

/** What the next request gets instead of results. */
export type BraveFault =
  | { readonly kind: "status"; readonly status: number; readonly code?: string; readonly detail?: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "huge"; readonly bytes: number }
  | { readonly kind: "raw"; readonly body: string; readonly contentType?: string }
  | { readonly kind: "redirect"; readonly location: string };

export interface FakeBrave extends AsyncDisposable {
  /** What to set as the API's base URL. */
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  readonly requests: readonly { readonly query: URLSearchParams; readonly headers: IncomingHttpHeaders }[];
  /** What is found from now on, whatever is asked. */
  results: readonly BraveResult[];
  /** Faults for the next requests, first come first served. */
  readonly faults: BraveFault[];
}

/**
 * A local server that speaks the Brave Search API's web search as documented: `GET /res/v1/web/search` with `q` (at most
 * 400 characters and 50 words) and `count` (1 to 20), the key in `X-Subscription-Token`, rate-limit headers in the
 * API's own two-window form, and its error bodies.
 * @see https://api-dashboard.search.brave.com/app/documentation/web-search
 */
// Long because: a server is set up from top to bottom, then come the short operations on it
export async function startFakeBrave({ apiKey = `BSA-${randomUUID()}` }: { readonly apiKey?: string } = {}): Promise<FakeBrave> {
  const requests: { query: URLSearchParams; headers: IncomingHttpHeaders }[] = [];
  const faults: BraveFault[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    requests.push({ query: url.searchParams, headers: request.headers });
    for (const [name, value] of Object.entries(rateHeaders)) response.setHeader(name, value);
    if (request.method !== "GET" || url.pathname !== "/res/v1/web/search")
      return fail(response, 404, "NOT_FOUND", "The requested resource could not be found.");
    const fault = faults.shift();
    if (fault !== undefined) return void misbehave(response, fault, () => search(response, url.searchParams));
    const token = request.headers["x-subscription-token"];
    if (token === undefined) {
      return fail(response, 422, "VALIDATION", "Unable to validate request parameter(s)", {
        errors: [{ type: "missing", loc: ["header", "x-subscription-token"], msg: "Field required", input: null }],
      });
    }
    if (token !== apiKey)
      return fail(response, 422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.", { component: "authentication" });
    search(response, url.searchParams);
  });

  function search(response: ServerResponse, query: URLSearchParams): void {
    const text = query.get("q") ?? "";
    const count = Number(query.get("count") ?? 20);
    const isBadQuery = text === "" || text.length > 400 || text.split(/\s+/).length > 50;
    if (isBadQuery || !Number.isInteger(count) || count < 1 || count > 20) {
      const parameter = isBadQuery ? "q" : "count";
      fail(response, 422, "VALIDATION", "Unable to validate request parameter(s)", {
        errors: [{ type: "value_error", loc: ["query", parameter], msg: `${parameter} is out of range`, input: query.get(parameter) }],
      });
      return;
    }
    const found = fake.results.slice(0, count);
    send(response, 200, {
      query: {
        original: text,
        show_strict_warning: false,
        is_navigational: false,
        spellcheck_off: false,
        country: "us",
        bad_results: false,
        should_fallback: false,
        more_results_available: false,
      },
      mixed: { type: "mixed", main: found.map((_, index) => ({ type: "web", index, all: false })), top: [], side: [] },
      type: "search",
      // The API leaves the section out where it has found nothing.
      ...(found.length === 0 ? {} : { web: { type: "search", results: found.map(asResult), family_friendly: true } }),
    });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeBrave = {
    url: `http://127.0.0.1:${port}`,
    port,
    apiKey,
    requests,
    results: [],
    faults,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return fake;
}

/** One request a second and 15 000 a month, both with something left. */
const rateHeaders = {
  "x-ratelimit-limit": "1, 15000",
  "x-ratelimit-policy": "1;w=1, 15000;w=2592000",
  "x-ratelimit-remaining": "0, 14523",
  "x-ratelimit-reset": "1, 1419704",
};

const asResult = (result: BraveResult): object => ({
  type: "search_result",
  subtype: "generic",
  is_source_local: false,
  is_source_both: false,
  language: "en",
  family_friendly: true,
  profile: { name: "Example", url: result.url, long_name: "example.com", img: "https://imgs.search.brave.com/icon" },
  meta_url: { scheme: "https", netloc: "example.com", hostname: "example.com", favicon: "https://imgs.search.brave.com/icon", path: "" },
  ...result,
});

async function misbehave(response: ServerResponse, fault: BraveFault, search: () => void): Promise<void> {
  switch (fault.kind) {
    case "status":
      for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
      return fail(response, fault.status, fault.code ?? "UNKNOWN", fault.detail ?? "Something is wrong.");
    case "slow":
      await sleep(fault.ms, undefined, { ref: false });
      return search();
    case "huge":
      response.setHeader("content-type", "application/json");
      await pipeline(function* () {
        yield '{"web":{"results":[{"title":"';
        for (let sent = 0; sent < fault.bytes; sent += 65_536) yield "x".repeat(65_536);
        yield '"}]}}';
      }, response).catch(() => {}); // the client may leave
      return;
    case "raw":
      response.setHeader("content-type", fault.contentType ?? "application/json");
      response.end(fault.body);
      return;
    case "redirect":
      response.writeHead(302, { location: fault.location }).end();
  }
}

function fail(response: ServerResponse, status: number, code: string, detail: string, meta: object = {}): void {
  send(response, status, { type: "ErrorResponse", error: { id: randomUUID(), status, code, detail, meta }, time: Math.floor(Date.now() / 1000) });
}

/** Compressed, as the API does for clients that take it. */
function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "content-encoding": "gzip" }).end(gzipSync(JSON.stringify(body)));
}

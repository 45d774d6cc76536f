import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { misbehave, type SearchFault, sendJson } from "./search-fault.ts";

/** One result, as far as callers may rely on its fields. */
export interface BraveResult {
  readonly title?: unknown;
  readonly url?: unknown;
  readonly description?: unknown;
}

export interface FakeBrave extends AsyncDisposable {
  /** What to set as the API's base URL. */
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  readonly requests: readonly { readonly query: URLSearchParams; readonly headers: IncomingHttpHeaders }[];
  /** What is found from now on, whatever is asked. */
  results: readonly BraveResult[];
  /** Faults for the next requests, first come first served. */
  readonly faults: SearchFault[];
}

/**
 * A local server that speaks the Brave Search API's web search as documented: `GET /res/v1/web/search` with `q` (at
 * most 400 characters and 50 words), `count` (1 to 20), `country`, `freshness` and `safesearch`, the key in
 * `X-Subscription-Token`, rate-limit headers in the API's own two-window form, and its error bodies.
 * @see https://api-dashboard.search.brave.com/app/documentation/web-search
 */
// Long because: a server is set up from top to bottom, then come the short operations on it
export async function startFakeBrave({
  apiKey = `BSA-${randomUUID()}`,
}: {
  readonly apiKey?: string;
} = {}): Promise<FakeBrave> {
  const requests: { query: URLSearchParams; headers: IncomingHttpHeaders }[] = [];
  const faults: SearchFault[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    requests.push({ query: url.searchParams, headers: request.headers });
    for (const [name, value] of Object.entries(rateHeaders)) response.setHeader(name, value);
    if (request.method !== "GET" || url.pathname !== "/res/v1/web/search")
      return fail(response, 404, "NOT_FOUND", "The requested resource could not be found.");
    const fault = faults.shift();
    if (fault !== undefined)
      return void misbehave(response, fault, {
        fail: ({ status, code = "UNKNOWN", detail = "Something is wrong." }) => fail(response, status, code, detail),
        search: () => search(response, url.searchParams),
      });
    const token = request.headers["x-subscription-token"];
    if (token === undefined) {
      return fail(response, 422, "VALIDATION", "Unable to validate request parameter(s)", {
        errors: [{ type: "missing", loc: ["header", "x-subscription-token"], msg: "Field required", input: null }],
      });
    }
    if (token !== apiKey)
      return fail(response, 422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.", {
        component: "authentication",
      });
    search(response, url.searchParams);
  });

  function search(response: ServerResponse, query: URLSearchParams): void {
    const text = query.get("q") ?? "";
    const count = Number(query.get("count") ?? 20);
    const parameter = badParameter(query);
    if (parameter !== undefined) {
      fail(response, 422, "VALIDATION", "Unable to validate request parameter(s)", {
        errors: [
          {
            type: "value_error",
            loc: ["query", parameter],
            msg: `${parameter} is out of range`,
            input: query.get(parameter),
          },
        ],
      });
      return;
    }
    const found = fake.results.slice(0, count);
    sendJson(response, 200, {
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

const countries = new Set(
  "AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US ALL".split(
    " ",
  ),
);

/** The first parameter that the API would not take. */
function badParameter(query: URLSearchParams): string | undefined {
  const text = query.get("q") ?? "";
  const count = Number(query.get("count") ?? 20);
  const isTaken: Readonly<Record<string, boolean>> = {
    q: text !== "" && text.length <= 400 && text.split(/\s+/).length <= 50,
    count: Number.isInteger(count) && count >= 1 && count <= 20,
    country: countries.has(query.get("country") ?? "ALL"),
    freshness: /^(p[dwmy]|\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d)$/.test(query.get("freshness") ?? "pd"),
    safesearch: ["off", "moderate", "strict"].includes(query.get("safesearch") ?? "off"),
  };
  return [...query.keys(), "q"].find((name) => isTaken[name] !== true);
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
  meta_url: {
    scheme: "https",
    netloc: "example.com",
    hostname: "example.com",
    favicon: "https://imgs.search.brave.com/icon",
    path: "",
  },
  ...result,
});

function fail(response: ServerResponse, status: number, code: string, detail: string, meta: object = {}): void {
  sendJson(response, status, {
    type: "ErrorResponse",
    error: { id: randomUUID(), status, code, detail, meta },
    time: Math.floor(Date.now() / 1000),
  });
}

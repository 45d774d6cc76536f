import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { misbehave, type SearchFault, sendJson } from "./search-fault.ts";

/** One result, as far as callers may rely on its fields. */
export interface SearxngResult {
  readonly title?: unknown;
  readonly url?: unknown;
  readonly content?: unknown;
}

export interface FakeSearxng extends AsyncDisposable {
  /** What to set as the instance's address: it has a path, as instances behind a proxy do. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly { readonly query: URLSearchParams; readonly headers: IncomingHttpHeaders }[];
  /** What is found from now on, whatever is asked: page by page. */
  pages: readonly (readonly SearxngResult[])[];
  /** Engines that give no answer, with their reasons. */
  unresponsive: readonly unknown[];
  /** What settings.yml allows in `search.formats`. */
  formats: readonly string[];
  /** Faults for the next requests, first come first served. */
  readonly faults: SearchFault[];
}

/**
 * A local SearXNG instance: `GET /search` with `q`, `format`, `pageno`, `language`, `time_range` and `safesearch`. It
 * answers 403 for a format that its settings do not allow, and 400 for a parameter that it cannot read. Scores rise
 * from result to result, against the order: nothing may rely on them.
 * @see https://docs.searxng.org/dev/search_api.html
 */
export async function startFakeSearxng(): Promise<FakeSearxng> {
  const requests: { query: URLSearchParams; headers: IncomingHttpHeaders }[] = [];
  const faults: SearchFault[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    requests.push({ query: url.searchParams, headers: request.headers });
    if (url.pathname !== "/searxng/search")
      return void response.writeHead(404, { "content-type": "text/html" }).end("<h1>Page not found</h1>");
    const fault = faults.shift();
    if (fault === undefined) answer(response, url.searchParams);
    else {
      void misbehave(response, fault, {
        fail: ({ status, detail = "search error" }) => sendJson(response, status, { error: detail }),
        search: () => answer(response, url.searchParams),
      });
    }
  });

  function answer(response: ServerResponse, query: URLSearchParams): void {
    const format = query.get("format") ?? "html";
    if (!fake.formats.includes(format)) {
      response.writeHead(403, { "content-type": "text/html" }).end("<h1>Forbidden</h1>");
      return;
    }
    const bad = badParameter(query);
    if (bad !== undefined) {
      sendJson(response, 400, { error: `Invalid value "${query.get(bad)}" for parameter ${bad}` });
      return;
    }
    const results = fake.pages[Number(query.get("pageno") ?? 1) - 1] ?? [];
    sendJson(response, 200, {
      query: query.get("q"),
      number_of_results: 0,
      results: results.map(asResult),
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines: fake.unresponsive,
    });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeSearxng = {
    url: `http://127.0.0.1:${port}/searxng`,
    port,
    requests,
    pages: [],
    unresponsive: [],
    formats: ["html", "json"],
    faults,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return fake;
}

/** The first parameter that an instance would not take. */
function badParameter(query: URLSearchParams): string | undefined {
  const isTaken: Readonly<Record<string, boolean>> = {
    q: (query.get("q") ?? "") !== "",
    pageno: /^[1-9]\d*$/.test(query.get("pageno") ?? "1"),
    language: /^(auto|[a-z]{2,3}(-[a-zA-Z]{2})?)$/.test(query.get("language") ?? "auto"),
    time_range: ["day", "week", "month", "year", ""].includes(query.get("time_range") ?? ""),
    safesearch: /^[012]$/.test(query.get("safesearch") ?? "0"),
  };
  return Object.keys(isTaken).find((name) => isTaken[name] !== true);
}

const asResult = (result: SearxngResult, i: number): object => ({
  template: "default.html",
  engine: "duckduckgo",
  engines: ["duckduckgo"],
  parsed_url: ["https", "example.com", "/", "", "", ""],
  positions: [i + 1],
  score: i + 1,
  category: "general",
  publishedDate: null,
  ...result,
});

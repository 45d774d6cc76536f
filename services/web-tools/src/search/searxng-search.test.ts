import { type SearchFault, startFakeSearxng, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestWebTools } from "../test-web-tools.ts";

const result = (n: number) => ({ title: `Title ${n}`, url: `https://example.com/${n}`, content: `Snippet ${n}` });

async function startSearch(env: Readonly<Record<string, string>> = {}) {
  const stack = new AsyncDisposableStack();
  const searxng = stack.use(await startFakeSearxng());
  const web = stack.use(
    await startTestWebTools({}, { SEARCH_PROVIDER: "searxng", SEARXNG_BASE_URL: `${searxng.url}/`, ...env }),
  );
  return { searxng, web, search: web.search, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("web_search gives what an instance finds, in its order", async () => {
  await using it = await startSearch();
  it.searxng.pages = [
    [
      result(1),
      { url: "https://example.com/2", content: "<b>a</b> [x](javascript:y)" },
      { ...result(3), url: "javascript:z" },
      result(4),
    ],
  ];

  expect(await it.search("what")).toMatchObject({
    content:
      "1. [Title 1](https://example.com/1) — Snippet 1\n2. [example.com/2](https://example.com/2) — a \\[x\\](javascript:y)\n3. [Title 4](https://example.com/4) — Snippet 4",
    structured: { query: "what", results: [{ title: "Title 1" }, { title: "" }, { title: "Title 4" }] },
    trust: { level: "untrusted", origin: `${it.searxng.url}/` },
  });
  expect(it.web.brave.requests).toHaveLength(0);
});

test("web_search asks an instance as its API documents, and Brave's key does not go there", async () => {
  await using it = await startSearch();
  await it.search("naïve & co", { country: "de", freshness: "week", safesearch: "strict" });
  await it.search("x", { country: "ALL", safesearch: "off" });

  expect(it.searxng.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
    { q: "naïve & co", format: "json", language: "de-DE", time_range: "week", safesearch: "2", pageno: "1" },
    { q: "x", format: "json", language: "all", safesearch: "0", pageno: "1" },
  ]);
  expect(JSON.stringify(it.searxng.requests)).not.toContain(it.web.brave.apiKey);
  await expect(it.search("x", { freshness: "2026-01-01to2026-01-31" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("day, week, month and year"),
  });
});

test("web_search turns pages until there are enough results, or nothing new comes", async () => {
  await using it = await startSearch();
  const page = (from: number) => [0, 1, 2, 3].map((i) => result(from + i));
  it.searxng.pages = [page(1), page(4), page(8), page(12)];

  expect((await it.search("x", { count: 10 })).content?.split("\n")).toHaveLength(10);
  expect((await it.search("x", { count: 20 })).content?.split("\n")).toHaveLength(11);
  expect((await it.search("x", { count: 3 })).content?.split("\n")).toHaveLength(3);
  expect(it.searxng.requests.map(({ query }) => query.get("pageno"))).toEqual(["1", "2", "3", "1", "2", "3", "1"]);
});

test("web_search says which engines gave no answer, and does not call their silence no results", async () => {
  await using it = await startSearch();
  expect(await it.search("nothing")).toMatchObject({
    content: "No results found.",
    structured: { query: "nothing", results: [] },
  });

  it.searxng.unresponsive = [["google", "Suspended: <b>CAPTCHA</b>"], ["bing", "timeout"], "odd", 7, []];
  await expect(it.search("x")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("google: Suspended: CAPTCHA, bing: timeout, odd"),
  });
  it.searxng.pages = [[result(1)]];
  expect((await it.search("y")).content).toContain(
    "Results may be missing. These gave no answer: google: Suspended: CAPTCHA, bing: timeout, odd",
  );
  expect((await it.search("y")).structured).toMatchObject({
    results: [{ title: "Title 1" }],
    unanswered: ["google: Suspended: CAPTCHA", "bing: timeout", "odd"],
  });
});

test.each<[string, SearchFault, object]>([
  [
    "401",
    { kind: "status", status: 401 },
    { code: "unavailable", isRetryable: false, message: expect.stringContaining("login") },
  ],
  [
    "404",
    { kind: "status", status: 404 },
    { code: "unavailable", isRetryable: false, message: expect.stringContaining("SEARXNG_BASE_URL") },
  ],
  [
    "400",
    { kind: "status", status: 400, detail: "bad <b>q</b>" },
    { code: "invalid_arguments", message: expect.stringContaining("bad q") },
  ],
  ["a text", { kind: "raw", body: "Too Many Requests", contentType: "text/plain" }, { code: "unavailable" }],
  [
    "a limit",
    { kind: "status", status: 429, headers: { "retry-after": "300" } },
    { code: "rate_limited", retryAfterMs: 300_000 },
  ],
  ["500", { kind: "status", status: 500 }, { code: "unavailable", isRetryable: true }],
  [
    "a page",
    { kind: "raw", body: "<html>sorry", contentType: "text/html" },
    { code: "unavailable", isRetryable: true },
  ],
  ["no results at all", { kind: "raw", body: "{}" }, { code: "unavailable" }],
  ["results of another type", { kind: "raw", body: '{"results":{}}' }, { code: "unavailable" }],
  ["90 MB", { kind: "huge", bytes: 90_000_000 }, { code: "too_large" }],
])("web_search answers %s from an instance with a typed error", async (_, fault, error) => {
  await using it = await startSearch();
  it.searxng.faults.push(fault);

  await expect(it.search("x")).rejects.toMatchObject(error);
});

test("web_search says what the operator has to set in an instance that gives no JSON", async () => {
  await using it = await startSearch();
  it.searxng.formats = ["html"];

  await expect(it.search("x")).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: false,
    message: expect.stringContaining("search.formats"),
  });
});

test("web_search gives what it has when a further page fails", async () => {
  await using it = await startSearch();
  it.searxng.pages = [[result(1)]];
  it.searxng.faults.push({ kind: "slow", ms: 0 }, { kind: "status", status: 500 });

  expect(await it.search("x")).toMatchObject({
    content: expect.stringMatching(/Title 1.*\n\nResults may be missing\. These gave no answer: page 2: unavailable$/s),
    structured: { unanswered: ["page 2: unavailable"] },
  });
});

test("web_search follows no redirect of an instance", async () => {
  await using elsewhere = await startPageServer({ "/": "{}" });
  await using it = await startSearch({ ALLOW_ADDRESSES: `127.0.0.1:${elsewhere.port}` });
  it.searxng.faults.push({ kind: "redirect", location: elsewhere.url });

  await expect(it.search("x")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("SEARXNG_BASE_URL"),
  });
  expect(elsewhere.connections).toBe(0);
});

import type { ToolError } from "@rockbot/contracts";
import { type SearchFault, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestWebTools } from "../test-web-tools.ts";

const result = (n: number) => ({ title: `Title ${n}`, url: `https://example.com/${n}`, description: `Snippet ${n}` });

test("web_search gives one line for each result, and the same as a value", async () => {
  await using web = await startTestWebTools();
  web.brave.results = [result(1), { ...result(2), description: undefined }];

  expect(await web.search("what")).toMatchObject({
    content: "1. [Title 1](https://example.com/1) — Snippet 1\n2. [Title 2](https://example.com/2)",
    isError: false,
    structured: {
      query: "what",
      results: [
        { title: "Title 1", url: "https://example.com/1", snippet: "Snippet 1" },
        { title: "Title 2", url: "https://example.com/2", snippet: "" },
      ],
    },
    trust: { level: "untrusted", origin: web.brave.url },
  });
});

test("web_search asks as the API documents", async () => {
  await using web = await startTestWebTools();
  await web.search("naïve & co", { count: 7 });
  await web.search("x");
  await web.search("y", { country: "de", freshness: "week", safesearch: "strict" });
  await web.search("z", { country: "ALL", freshness: "2026-01-01to2026-01-31", safesearch: "off" });

  expect(web.brave.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
    { q: "naïve & co", count: "7" },
    { q: "x", count: "5" },
    { q: "y", count: "5", country: "DE", freshness: "pw", safesearch: "strict" },
    { q: "z", count: "5", country: "ALL", freshness: "2026-01-01to2026-01-31", safesearch: "off" },
  ]);
  expect(web.brave.requests[0]?.headers).toMatchObject({
    accept: "application/json",
    "x-subscription-token": web.brave.apiKey,
  });
});

test("web_search gives no more than asked, and takes no more than 20", async () => {
  await using web = await startTestWebTools({}, { MAX_SEARCH_RESULTS: "3" });
  web.brave.results = Array.from({ length: 30 }, (_, i) => result(i + 1));

  expect((await web.search("x")).content?.split("\n")).toHaveLength(3);
  expect((await web.search("x", { count: 20 })).content?.split("\n")).toHaveLength(20);
  for (const wrong of [
    { count: 21 },
    { count: 0 },
    { country: "Germany" },
    { freshness: "hour" },
    { safesearch: "none" },
  ])
    await expect(web.search("x", wrong)).rejects.toMatchObject({ code: "invalid_arguments" });
  await expect(web.search("x", { country: "xx" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("does not accept"),
  });
});

test("web_search knows a limit by its status, also where the answer breaks off", async () => {
  await using api = await startPageServer({
    "/res/v1/web/search": (_, response) => {
      response.writeHead(429, { "content-length": "1000", "retry-after": "60" }).write("{");
      setImmediate(() => response.destroy());
    },
  });
  await using web = await startTestWebTools({}, { BRAVE_BASE_URL: api.url });

  await expect(web.search("x")).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 60_000 });
});

test("web_search without results says exactly so", async () => {
  await using web = await startTestWebTools();

  expect((await web.search("x")).content).toBe("No results found.");
});

test.each([
  [
    "tags and entities",
    { title: "<strong>A</strong> &amp; B &#x27;c&#x27; &eacute;", description: "<script>x</script>d&nbsp;e &lt;b&gt;" },
    "1. [A & B 'c' é](https://example.com/1) — d e \\<b>",
  ],
  [
    "markdown",
    { title: "a](https://evil.test) [b", description: "![x](https://evil.test) `c` **d**" },
    "1. [a\\]\\(https://evil.test) \\[b](https://example.com/1) — !\\[x\\](https://evil.test) \\`c\\` \\*\\*d\\*\\*",
  ],
  ["lines", { title: "a\n\n2. b", description: "c\r\n# d\u2028e" }, "1. [a 2. b](https://example.com/1) — c # d e"],
  [
    "what goes on with an address",
    { description: "www.example.com&lt;img src=x onerror=a()&gt;" },
    "1. [Title 1](https://example.com/1) — www.example.com&lt;img src=x onerror=a()>",
  ],
  [
    "unseen characters",
    { title: "a\u202eb\u200bc\u0007", description: "\u2066x" },
    "1. [abc](https://example.com/1) — x",
  ],
  [
    "a URL with parentheses",
    { url: "https://example.com/a_(b)" },
    "1. [Title 1](https://example.com/a_%28b%29) — Snippet 1",
  ],
  [
    "a long snippet",
    { description: "x".repeat(1_000_000) },
    `1. [Title 1](https://example.com/1) — ${"x".repeat(600)}…`,
  ],
  ["fields of other types", { description: { a: 1 } }, "1. [Title 1](https://example.com/1)"],
])("web_search tames %s", async (_, fields, line) => {
  await using web = await startTestWebTools();
  web.brave.results = [{ ...result(1), ...fields }];

  expect((await web.search("x")).content).toBe(line);
});

test.each([
  ["javascript:alert(1)"],
  ["data:text/html,x"],
  ["file:///etc/passwd"],
  ["not a url"],
  [""],
  [42],
  [null],
  ["https://user:pass@example.com/"],
  [`https://example.com/${"x".repeat(3000)}`],
])("web_search leaves out a result that leads to %j", async (url) => {
  await using web = await startTestWebTools();
  web.brave.results = [{ ...result(1), url }, result(4)];

  expect((await web.search("x")).content).toBe("1. [Title 4](https://example.com/4) — Snippet 4");
});

test("web_search keeps a result without a title, and calls it by its address", async () => {
  await using web = await startTestWebTools();
  web.brave.results = [
    { ...result(1), title: undefined },
    { ...result(2), title: 7 },
    { title: "<b></b>", url: "https://example.com/" },
  ];

  const { content, structured } = await web.search("x");
  expect(content).toBe(
    "1. [example.com/1](https://example.com/1) — Snippet 1\n2. [example.com/2](https://example.com/2) — Snippet 2\n3. [example.com](https://example.com/)",
  );
  expect(structured).toMatchObject({ results: [{ title: "" }, { title: "" }, { title: "" }] });
});

test.each([
  ["{}", "No results found."],
  ['{"web":null}', "No results found."],
  ['{"web":{"results":[null,1,"x",[]]}}', "No results found."],
])("web_search reads the answer %s", async (body, content) => {
  await using web = await startTestWebTools();
  web.brave.faults.push({ kind: "raw", body });

  expect((await web.search("x")).content).toBe(content);
});

test.each<[string, SearchFault, object]>([
  [
    "401",
    { kind: "status", status: 401 },
    { code: "unavailable", isRetryable: false, message: expect.stringContaining("BRAVE_API_KEY") },
  ],
  [
    "403",
    { kind: "status", status: 403 },
    { code: "unavailable", isRetryable: false, message: expect.stringContaining("BRAVE_API_KEY") },
  ],
  [
    "a 422 for the key",
    { kind: "status", status: 422, code: "SUBSCRIPTION_TOKEN_INVALID" },
    { code: "unavailable", isRetryable: false, details: { status: 422, reason: "SUBSCRIPTION_TOKEN_INVALID" } },
  ],
  [
    "a 422 for the query",
    { kind: "status", status: 422, code: "VALIDATION", detail: "q is <b>bad</b>" },
    { code: "invalid_arguments", message: expect.stringContaining("q is bad") },
  ],
  [
    "429 and Retry-After",
    { kind: "status", status: 429, code: "RATE_LIMITED", headers: { "retry-after": "300" } },
    { code: "rate_limited", isRetryable: true, retryAfterMs: 300_000, message: expect.stringContaining("in 300 s") },
  ],
  [
    "429 for the month",
    { kind: "status", status: 429, code: "QUOTA_LIMITED", headers: { "x-ratelimit-remaining": "1, 0" } },
    { code: "rate_limited", retryAfterMs: 1_419_704_000 },
  ],
  ["500", { kind: "status", status: 500 }, { code: "unavailable", isRetryable: true }],
  ["404", { kind: "status", status: 404 }, { code: "execution_failed", isRetryable: false }],
  [
    "no JSON",
    { kind: "raw", body: "<html>sorry", contentType: "text/html" },
    { code: "unavailable", isRetryable: true },
  ],
  [
    "an error with status 200",
    { kind: "raw", body: '{"type":"ErrorResponse","error":{"code":"X"}}' },
    { code: "unavailable" },
  ],
  ["results that are no list", { kind: "raw", body: '{"web":{"results":"x"}}' }, { code: "unavailable" }],
  ["a list in place of an object", { kind: "raw", body: "[]" }, { code: "unavailable" }],
  ["JSON that is too deep", { kind: "raw", body: `${"[".repeat(1000)}${"]".repeat(1000)}` }, { code: "unavailable" }],
  ["90 MB", { kind: "huge", bytes: 90_000_000 }, { code: "too_large" }],
])("web_search answers %s from the API with a typed error", async (_, fault, error) => {
  await using web = await startTestWebTools();
  web.brave.faults.push(fault);

  await expect(web.search("x")).rejects.toMatchObject(error);
});

test("web_search asks once more when the API says how soon, and no more than once", async () => {
  await using web = await startTestWebTools();
  web.brave.results = [result(1)];
  const limited: SearchFault = { kind: "status", status: 429, code: "RATE_LIMITED", headers: { "retry-after": "0" } };

  web.brave.faults.push(limited);
  expect((await web.search("x")).content).toContain("Title 1");
  // Without Retry-After the API's own header names the wait: a second.
  web.brave.faults.push({ kind: "status", status: 429, code: "RATE_LIMITED" });
  expect((await web.search("y")).content).toContain("Title 1");
  web.brave.faults.push(limited, limited, limited);
  await expect(web.search("z")).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 0 });
  expect(web.brave.requests).toHaveLength(6);
});

test.each([
  ["its deadline", 15, 10_000],
  ["20 s", 21, 120_000],
])("web_search does not wait for another try beyond %s", async (_, seconds, timeoutMs) => {
  await using web = await startTestWebTools();
  web.brave.faults.push({
    kind: "status",
    status: 429,
    code: "RATE_LIMITED",
    headers: { "retry-after": String(seconds) },
  });

  await expect(web.caller.call("web_search", { query: "x" }, { timeoutMs })).rejects.toMatchObject({
    code: "rate_limited",
    retryAfterMs: seconds * 1_000,
  });
  expect(web.brave.requests).toHaveLength(1);
});

test("web_search gives up on an API that is too slow", async () => {
  await using web = await startTestWebTools({}, { FETCH_TIMEOUT_MS: "200" });
  web.brave.faults.push({ kind: "slow", ms: 60_000 });

  await expect(web.search("x")).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: true,
    message: expect.stringContaining("200 ms"),
  });
});

test("web_search says what is wrong with a service, and not where it is", async () => {
  const errors: unknown[] = [];
  const noted = async (search: Promise<unknown>): Promise<void> =>
    void errors.push(await search.catch((error: unknown) => (error as ToolError).message));
  {
    await using web = await startTestWebTools({}, { FETCH_TIMEOUT_MS: "200" });
    web.brave.faults.push({ kind: "slow", ms: 60_000 });
    await noted(web.search("x"));
  }
  for (const baseUrl of ["http://search.invalid:8080", "http://127.0.0.1:1"]) {
    await using web = await startTestWebTools({}, { BRAVE_BASE_URL: baseUrl });
    await noted(web.search("x"));
  }
  await using large = await startPageServer({ "/res/v1/web/search": JSON.stringify("x".repeat(2_000_000)) });
  await using web = await startTestWebTools({}, { BRAVE_BASE_URL: large.url });
  await noted(web.search("x"));

  expect(errors).toEqual([
    "Cannot read the search service: no complete answer within 200 ms.",
    "Cannot read the search service: no address is known for its host. The operator has to check it.",
    "Cannot read the search service: the server refuses connections.",
    "Cannot read the search service: the answer is larger than the limit of 2000000 bytes.",
  ]);
});

test("web_search does not send the key on after a redirect", async () => {
  await using elsewhere = await startPageServer({ "/": "{}" });
  await using web = await startTestWebTools({}, { ALLOW_ADDRESSES: `127.0.0.1:${elsewhere.port}` });
  web.brave.faults.push({ kind: "redirect", location: elsewhere.url });

  await expect(web.search("x")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("redirects"),
  });
  expect(elsewhere.connections).toBe(0);
});

test("web_search never repeats the key", async () => {
  await using web = await startTestWebTools();
  web.brave.faults.push({ kind: "status", status: 422, code: "VALIDATION", detail: `bad token ${web.brave.apiKey}` });

  await expect(web.search("x")).rejects.toMatchObject({ message: expect.not.stringContaining(web.brave.apiKey) });
});

test("web_search with a wrong key says what the operator has to set", async () => {
  await using web = await startTestWebTools({}, { BRAVE_API_KEY: "wrong" });

  await expect(web.search("x")).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: false,
    message: expect.stringContaining("valid BRAVE_API_KEY"),
  });
});

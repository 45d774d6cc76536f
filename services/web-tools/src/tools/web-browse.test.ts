import { brotliCompressSync, gzipSync } from "node:zlib";
import { badPages, type Page } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestWebTools } from "../test-web-tools.ts";

const page = (contentType: string, body: string | Uint8Array): Page => ({ headers: { "content-type": contentType }, body });

test("web_browse gives a page's title and content as markdown, and as a value, marked as a stranger's", async () => {
  await using web = await startTestWebTools({
    "/moved": badPages.redirect("/docs/page"),
    "/docs/page": "<title>Guide</title><body><nav>menu</nav><main><h2>Start</h2><p>Read <a href='next'>on</a>.</p></main>",
  });
  const url = `${web.site.url}/docs/page`;
  const markdown = `## Start\n\nRead [on](${web.site.url}/docs/next).`;

  expect(await web.browse("/moved")).toMatchObject({
    content: `# Guide\n\n${markdown}`,
    isError: false,
    structured: { url, title: "Guide", contentType: "text/html" },
    trust: { level: "untrusted", origin: url },
  });
});

test("web_browse does not say the title twice", async () => {
  await using web = await startTestWebTools({ "/": "<title>Guide</title><body><h1>Guide</h1><p>text" });

  expect((await web.browse("/")).content).toBe("# Guide\n\ntext");
});

test("web_browse says what it is and asks for text", async () => {
  await using web = await startTestWebTools({ "/": "<p>x" }, { USER_AGENT: "Tester/1.0" });
  await web.browse("/");

  expect(web.site.requests[0]?.headers).toMatchObject({
    "user-agent": "Tester/1.0",
    accept: expect.stringContaining("text/html"),
    "accept-encoding": "gzip, deflate, br",
  });
});

test.each([
  ["text/plain", "# as *it* is\n", "# as *it* is"],
  ["text/markdown", "# as *it* is", "# as *it* is"],
  ["application/json", '{"a": 1}\n', '```json\n{"a": 1}\n```'],
  ["application/rss+xml", "<rss/>", "```xml\n<rss/>\n```"],
  ["text/csv", "a,b", "```csv\na,b\n```"],
  ["application/json", '"```"', '````json\n"```"\n````'],
  ["application/octet-stream", "just words", "just words"],
  ["application/octet-stream", "<!doctype html><title>T</title><p>x", "# T\n\nx"],
  ["text/html; charset=koi8-r", new Uint8Array([0x3c, 0x70, 0x3e, 0xf0, 0xf2]), "ПР"],
  ["text/html", Buffer.from("<p>UTF-16 without a mark", "utf16le"), "UTF-16 without a mark"],
  ["text/plain", "pay\u200bload\u001b[2J\r\n", "payload[2J"],
  ["text/html", "<script>draw()</script>", "(The page holds no text that can be read without running its scripts.)"],
  ["text/plain", "", "(The page holds no text that can be read without running its scripts.)"],
])("web_browse reads %s, as in case %#", async (contentType, body, content) => {
  await using web = await startTestWebTools({ "/": page(contentType, body) });

  expect(await web.browse("/")).toMatchObject({ content, isError: false });
});

test.each([
  ["application/pdf", "%PDF-1.7", "a PDF document"],
  ["text/html", "%PDF-1.7", "a PDF document"],
  ["image/png", "x", "an image"],
  ["text/plain", Buffer.from("\x89PNG\r\n\x1a\n\0\0", "latin1"), "an image"],
  ["application/zip", "PK\x03\x04", "an archive"],
  ["application/octet-stream", gzipSync("x"), "an archive"],
  ["text/html", Buffer.from([0x3c, 0x70, 0x3e, 0, 1, 2]), "binary data"],
])("web_browse refuses %s with such bytes in words, as in case %#", async (contentType, body, what) => {
  await using web = await startTestWebTools({ "/": page(contentType, body) });

  await expect(web.browse("/")).rejects.toMatchObject({
    code: "execution_failed",
    isRetryable: false,
    message: expect.stringContaining(`it is ${what}, and only text can be read`),
  });
});

test.each([
  [404, {}, { code: "execution_failed", isRetryable: false, details: { status: 404 } }],
  [403, {}, { code: "execution_failed", isRetryable: false }],
  [418, {}, { code: "execution_failed", isRetryable: false }],
  [304, {}, { code: "execution_failed", isRetryable: false }],
  [302, {}, { code: "execution_failed", isRetryable: false }],
  [429, { "retry-after": "7" }, { code: "rate_limited", isRetryable: true, retryAfterMs: 7000 }],
  [503, { "retry-after": "120" }, { code: "unavailable", isRetryable: true, retryAfterMs: 120_000 }],
  [500, {}, { code: "unavailable", isRetryable: true }],
])("web_browse answers status %d with a typed error", async (status, headers, error) => {
  await using web = await startTestWebTools({ "/": { status, headers, body: "<p>sorry" } });

  await expect(web.browse("/?key=s3cret")).rejects.toMatchObject({
    ...error,
    message: expect.stringMatching(new RegExp(`^Cannot read ${web.site.url}/: .*status ${status}`)),
  });
});

test("web_browse says so where it cannot tell how a page's characters are written", async () => {
  await using web = await startTestWebTools({ "/": page("text/html", Buffer.from("ab \x81 cd \x98 ef ".repeat(40), "latin1")) });

  await expect(web.browse("/")).rejects.toMatchObject({ code: "execution_failed", isRetryable: false, message: expect.stringContaining("in which encoding") });
});

const long = Buffer.from(`<title>T</title>${Array.from({ length: 5_000 }, (_, i) => `<p>line ${i} ${Math.sin(i)}</p>`).join("")}`);
test.each([
  ["gzip", gzipSync(long)],
  ["br", brotliCompressSync(long)],
])("web_browse says so where an answer in %s breaks off", async (encoding, whole) => {
  const sent = (body: Buffer): Page => ({ headers: { "content-type": "text/html", "content-encoding": encoding }, body });
  await using web = await startTestWebTools({ "/whole": sent(whole), "/half": sent(whole.subarray(0, whole.length / 2)), "/none": sent(whole.subarray(0, 2)) });

  expect((await web.browse("/whole")).content).toMatch(/line 4999 [-.\d]+$/);
  expect((await web.browse("/half")).content).toMatch(/^# T\n\nline 0 [\s\S]*\(The server's answer broke off here: the page may be longer\.\)$/);
  await expect(web.browse("/none")).rejects.toMatchObject({ code: "unavailable" });
});

test("web_browse refuses what is larger than the limit", async () => {
  await using web = await startTestWebTools({ "/": badPages.gzipBomb(2_000_000) }, { MAX_PAGE_BYTES: "1000000" });

  await expect(web.browse("/")).rejects.toMatchObject({ code: "too_large", message: expect.stringContaining("1000000 bytes") });
});

test("web_browse gives up on a page that cannot be converted in time", async () => {
  await using web = await startTestWebTools({ "/": `<body>${"<div>".repeat(800_000)}` }, { CONVERT_TIMEOUT_MS: "500" });

  await expect(web.browse("/")).rejects.toMatchObject({ code: "execution_failed", message: expect.stringContaining("it takes longer than 500 ms") });
});

test("web_browse denies addresses that are not public", async () => {
  await using web = await startTestWebTools();

  await expect(web.caller.call("web_browse", { url: "http://169.254.169.254/latest/meta-data/" })).rejects.toMatchObject({
    code: "denied",
    isRetryable: false,
  });
  await expect(web.caller.call("web_browse", { url: web.brave.url })).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining("(ALLOW_ADDRESSES, or --allow-address of the command)"),
  });
});

test("cancelling a call closes the connection to the site", async () => {
  let closed = false;
  await using web = await startTestWebTools({
    "/": (_, response) => {
      response.on("close", () => {
        closed = true;
      });
      response.write("<p>begun");
    },
  });
  const abort = new AbortController();
  const call = web.caller.call("web_browse", { url: web.site.url }, { signal: abort.signal });
  await expect.poll(() => web.site.requests.length).toBe(1);
  abort.abort();

  await expect(call).rejects.toThrow();
  await expect.poll(() => closed).toBe(true);
});

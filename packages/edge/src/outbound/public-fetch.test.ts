import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { text } from "node:stream/consumers";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { badPages, type Page, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createPublicFetch, type PublicFetchOptions } from "./public-fetch.ts";

/** A server with `pages`, and a fetch that may read it. */
async function startSite(pages: Record<string, Page>, options: PublicFetchOptions = {}) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startPageServer(pages));
  const fetch = stack.use(createPublicFetch({ allowAddresses: [`127.0.0.1:${server.port}`], ...options }));
  return {
    server,
    fetch,
    async read(path: string) {
      await using response = await fetch(server.url + path);
      return {
        status: response.status,
        url: response.url.href,
        text: Buffer.from((await response.body()).bytes).toString(),
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Counts the sockets this process opens, as Node itself tells it. */
function countSockets() {
  let opened = 0;
  const count = (): void => {
    opened++;
  };
  subscribe("net.client.socket", count);
  return {
    get opened() {
      return opened;
    },
    [Symbol.dispose]: () => unsubscribe("net.client.socket", count),
  };
}

test.each([
  "http://127.0.0.1/",
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0177.0.0.1/",
  "http://0x7f.1/",
  "http://①②⑦.⓪.⓪.①/",
  "http://0/",
  "http://0.0.0.0/",
  "http://10.0.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.100.100.200/",
  "http://168.63.129.16/",
  "http://192.168.1.1:8080/",
  "http://[::1]/",
  "http://[::]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:169.254.169.254]/",
  "http://[0:0:0:0:0:ffff:7f00:1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b:1::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[2001::1]/",
  "http://[fd00:ec2::254]/",
  "http://[fe80::1]/",
  "http://[fec0::1]/",
  "http://[ff02::1]/",
  "http://[::127.0.0.1]/",
  "https://127.0.0.1/",
  "https://[::1]:8443/",
  "http://255.255.255.255/",
  "http://224.0.0.1/",
])("%s is denied without a socket", async (url) => {
  await using fetch = createPublicFetch({ lookup: () => expect.fail("a literal address is not looked up") });
  using sockets = countSockets();

  await expect(fetch(url)).rejects.toMatchObject({ code: "denied", isRetryable: false });
  expect(sockets.opened).toBe(0);
});

test.each([
  ["localhost", ["127.0.0.1", "::1"]],
  ["localhost.", ["127.0.0.1"]],
  ["127.0.0.1.nip.io", ["127.0.0.1"]],
  ["10-0-0-1.sslip.io", ["10.0.0.1"]],
  ["metadata.google.internal", ["169.254.169.254"]],
  ["kubernetes.default.svc", ["10.96.0.1"]],
  ["v6.example", ["fd00::1", "fe80::1", "::ffff:10.0.0.1"]],
  ["nat64.example", ["64:ff9b::a00:1"]],
  ["odd.example", ["127.1"]],
])("a name such as %s that resolves to %j is denied without a socket", async (host, addresses) => {
  await using fetch = createPublicFetch({ lookup: async () => addresses });
  using sockets = countSockets();

  await expect(fetch(`http://${host}/`)).rejects.toMatchObject({ code: "denied" });
  expect(sockets.opened).toBe(0);
});

test.each([22, 25, 6379, 5672, 15672, 2375, 1])("port %d is denied before a look-up", async (port) => {
  await using fetch = createPublicFetch({ lookup: () => expect.fail("not looked up") });

  await expect(fetch(`http://example.com:${port}/`)).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining(`port ${port}`),
  });
});

test.each([
  "",
  "nope",
  "/path",
  "http://",
  "http://[::1",
  "ftp://example.com/",
  "file:///etc/passwd",
  "data:text/html,x",
  "javascript:1",
  "gopher://x/",
  "http://user:secret@example.com/",
  "http://user@example.com/",
])("%j is refused as an argument, and no password is repeated", async (url) => {
  await using fetch = createPublicFetch();

  await expect(fetch(url)).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.not.stringContaining("secret"),
  });
});

test("a name is looked up once for a connection, so an answer that changes gains nothing", async () => {
  let lookups = 0;
  await using site = await startSite({ "/": "hello" }, {});
  const answers = [["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1"]];
  await using fetch = createPublicFetch({
    allowAddresses: [`127.0.0.0/8:${site.server.port}`],
    lookup: async () => answers[lookups++ % answers.length] ?? [],
  });

  await using response = await fetch(`http://rebind.example:${site.server.port}/`);
  expect(response.status).toBe(200);
  expect(lookups).toBe(1);
});

test("of several addresses only the permitted ones are connected to", async () => {
  await using site = await startSite({ "/": "hello" });
  await using fetch = createPublicFetch({
    allowAddresses: [`127.0.0.1:${site.server.port}`],
    lookup: async () => ["10.0.0.1", "::1", "127.0.0.1"],
  });

  await using response = await fetch(`http://many.example:${site.server.port}/`);
  expect(response.status).toBe(200);
});

test("redirects are followed to the end, and the end's URL is told", async () => {
  await using site = await startSite({
    "/a": badPages.redirect("/b", 301),
    "/b": badPages.redirect("c?x=1", 307),
    "/c": "end",
  });

  expect(await site.read("/a")).toEqual({ status: 200, url: `${site.server.url}/c?x=1`, text: "end" });
});

test.each([
  "http://127.0.0.1:1/",
  "http://169.254.169.254/",
  "//10.0.0.1/",
  "http://[::ffff:127.0.0.1]/",
  "http://0x7f.1/",
  "\\\\127.0.0.1\\x",
  "file:///etc/passwd",
  "http://u:p@example.com/",
])("a redirect to %s is denied", async (location) => {
  await using site = await startSite({ "/": badPages.redirect(location) });
  using sockets = countSockets();

  await expect(site.read("/")).rejects.toMatchObject({ code: "denied" });
  expect(sockets.opened).toBe(1); // to the site itself
});

test.each(["utf8", "latin1"] as const)("a redirect to a path in %s goes where a browser goes", async (encoding) => {
  const bytes = Buffer.from("/grüße", encoding);
  const path = bytes
    .toString("latin1")
    .replaceAll(/[^ -~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  await using site = await startSite({
    "/": ({ socket }) =>
      void socket.end(
        Buffer.concat([
          Buffer.from("HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: "),
          bytes,
          Buffer.from("\r\n\r\n"),
        ]),
      ),
    [path]: "end",
  });

  expect(await site.read("/")).toMatchObject({ status: 200 });
});

test("more than five redirects are an error", async () => {
  await using site = await startSite({ "/": badPages.redirect("/") });

  await expect(site.read("/")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("redirects more than 5 times"),
  });
  expect(site.server.requests).toHaveLength(6);
});

test("redirects that lead nowhere without a cookie say so", async () => {
  await using site = await startSite({
    "/": { status: 302, headers: { location: "/", "set-cookie": "seen=1; Path=/" } },
  });

  await expect(site.read("/")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringMatching(/5 times, and wants a cookie kept/),
  });
});

test("a caller's headers go to the first origin only, and never come back", async () => {
  await using other = await startPageServer({});
  await using site = await startSite({
    "/": badPages.redirect("/same"),
    "/same": badPages.redirect(`${other.url}/away`),
    "/back": "end",
  });
  await using away = await startPageServer({ "/away": badPages.redirect(`${site.server.url}/back`) });
  await using first = await startPageServer({
    "/": badPages.redirect("/same"),
    "/same": badPages.redirect(`${away.url}/away`),
  });
  await using fetch = createPublicFetch({
    allowAddresses: [site, { server: away }, { server: first }].map(({ server }) => `127.0.0.1:${server.port}`),
  });

  await using response = await fetch(`${first.url}/`, {
    headers: { authorization: "Bearer secret", "x-token": "secret", accept: "application/json" },
  });
  expect(response.status).toBe(200);
  expect(first.requests.map(({ headers }) => headers["x-token"])).toEqual(["secret", "secret"]);
  expect(
    [...away.requests, ...site.server.requests].map(({ headers }) => [headers["x-token"], headers.authorization]),
  ).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
  expect([...away.requests, ...site.server.requests].map(({ headers }) => headers.accept)).toEqual([
    "application/json",
    "application/json",
  ]);
});

test("without redirects allowed, a redirect is the answer", async () => {
  await using site = await startSite({ "/": badPages.redirect("/b") });

  await using response = await site.fetch(`${site.server.url}/`, { maxRedirects: 0 });
  expect([response.status, response.header("location")]).toEqual([302, "/b"]);
});

test.each([
  ["gzip", gzipSync("hello")],
  ["x-gzip", gzipSync("hello")],
  ["deflate", deflateSync("hello")],
  ["deflate", deflateRawSync("hello")],
  ["br", brotliCompressSync("hello")],
  ["zstd", zstdCompressSync("hello")],
  ["gzip, br", brotliCompressSync(gzipSync("hello"))],
  ["identity", Buffer.from("hello")],
  ["gzip", gzipSync("hello".repeat(1000)).subarray(0, -8)],
  ["gzip", Buffer.concat([gzipSync("hello"), Buffer.from("more bytes")])],
  ["none", Buffer.from("hello")],
])("a body in %s is decompressed", async (encoding, body) => {
  await using site = await startSite({ "/": { headers: { "content-encoding": encoding }, body } });

  expect((await site.read("/")).text).toMatch(/^(hello)+$/);
});

test.each([
  ["gzip", gzipSync("hello").subarray(0, 10)],
  ["gzip", gzipSync("hello").subarray(0, 1)],
  ["deflate", deflateSync("hello").subarray(0, 2)],
  ["br", brotliCompressSync("hello").subarray(0, 2)],
  ["gzip, br", brotliCompressSync(gzipSync("hello").subarray(0, 5))],
])("a body in %s that breaks off before its first text is unavailable", async (encoding, body) => {
  await using site = await startSite({ "/": { headers: { "content-encoding": encoding }, body } });

  await expect(site.read("/")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("broke off before the first"),
  });
});

test.each([
  ["compress", "hello", /content encoding "compress"/],
  ["zstd", "hello", /compressed content is broken/],
  ["constructor", "hello", /content encoding "constructor"/],
  ["gzip", "no gzip", /compressed content is broken/],
  ["gzip,gzip,gzip", gzipSync(gzipSync(gzipSync("hello"))), /more than twice/],
])("a body in %s that cannot be decompressed is refused in words", async (encoding, body, words) => {
  await using site = await startSite({ "/": { headers: { "content-encoding": encoding }, body } });

  await expect(site.read("/")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringMatching(words),
  });
});

test.each([
  ["said beforehand", { headers: { "content-length": "100001" }, body: "x".repeat(100_001) }],
  ["endless", badPages.endless()],
  ["a gzip bomb", badPages.gzipBomb(50_000_000)],
  ["a brotli bomb", { headers: { "content-encoding": "br" }, body: brotliCompressSync(Buffer.alloc(50_000_000)) }],
  [
    "a bomb in a bomb",
    { headers: { "content-encoding": "gzip, gzip" }, body: gzipSync(gzipSync(Buffer.alloc(50_000_000))) },
  ],
] satisfies [string, Page][])("a body that is too large (%s) is refused, and little of it held", async (_, page) => {
  await using site = await startSite({ "/": page }, { maxBytes: 100_000 });
  const before = process.memoryUsage.rss();

  await expect(site.read("/")).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("100000 bytes"),
  });
  expect(process.memoryUsage.rss() - before).toBeLessThan(30_000_000);
});

test.each([
  ["never answers", badPages.silent(), { timeoutMs: 300 }, /no complete answer within 300 ms/],
  ["begins and stops", badPages.stalled(), { timeoutMs: 300 }, /no complete answer within 300 ms/],
  ["sends a byte now and again", badPages.dripping(20), { timeoutMs: 300 }, /no complete answer within 300 ms/],
  ["is silent for too long", badPages.silent(), { idleTimeoutMs: 500, timeoutMs: 10_000 }, /sent nothing for 500 ms/],
  ["stops for too long", badPages.stalled(), { idleTimeoutMs: 500, timeoutMs: 10_000 }, /sent nothing for 500 ms/],
  ["breaks off", badPages.broken(), {}, /connection broke/],
] satisfies [string, Page, PublicFetchOptions, RegExp][])(
  "a server that %s is unavailable",
  async (_, page, options, words) => {
    await using site = await startSite({ "/": page }, options);

    await expect(site.read("/")).rejects.toMatchObject({
      code: "unavailable",
      isRetryable: true,
      message: expect.stringMatching(words),
    });
  },
);

test("a server that speaks no HTTP is an error, not a crash", async () => {
  await using site = await startSite({ "/": badPages.noHttp() });

  await expect(site.read("/")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("not valid HTTP"),
  });
});

test("headers that are too large are refused", async () => {
  await using site = await startSite({ "/": { headers: { "x-long": "x".repeat(60_000) } } });

  await expect(site.read("/")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("headers are too large"),
  });
});

test("nobody on the port: unavailable", async () => {
  const { port } = await (async () => {
    await using gone = await startPageServer({});
    return gone;
  })();
  await using fetch = createPublicFetch({ allowAddresses: [`127.0.0.1:${port}`] });

  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("refuses connections"),
  });
});

test.each([
  ["ENOTFOUND", /no address is known for the host "gone.example"/],
  ["EAI_AGAIN", /could not be looked up now/],
])("a look-up that fails with %s is unavailable", async (code, words) => {
  await using fetch = createPublicFetch({
    lookup: () => Promise.reject(Object.assign(new Error(`getaddrinfo ${code} 10.0.0.53`), { code })),
  });

  await expect(fetch("http://gone.example/")).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: true,
    message: expect.stringMatching(words),
  });
});

test("a look-up without answer or addresses comes to an end", async () => {
  await using slow = createPublicFetch({ lookup: () => new Promise(() => {}), connectTimeoutMs: 50 });
  await using empty = createPublicFetch({ lookup: async () => [] });

  await expect(slow("http://slow.example/")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("no connection within 50 ms"),
  });
  await expect(empty("http://empty.example/")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("no address is known"),
  });
});

test("a look-up is told whether the operator names the host, and is given up with the connection", async () => {
  const asked: [string, boolean][] = [];
  const signals: AbortSignal[] = [];
  await using fetch = createPublicFetch({
    allowAddresses: ["intranet.example:9000"],
    connectTimeoutMs: 50,
    lookup: (host, { isNamed, signal }) => {
      asked.push([host, isNamed]);
      signals.push(signal);
      return new Promise(() => {});
    },
  });
  for (const url of ["http://intranet.example:9000/", "http://public.example/"])
    await expect(fetch(url)).rejects.toMatchObject({ code: "unavailable" });

  expect(asked).toEqual([
    ["intranet.example", true],
    ["public.example", false],
  ]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test("aborting gives the signal's reason, before and while reading", async () => {
  await using site = await startSite({ "/silent": badPages.silent(), "/stalled": badPages.stalled() });
  const reason = new Error("given up");
  const abort = new AbortController();
  const silent = site.fetch(`${site.server.url}/silent`, { signal: abort.signal });
  await using response = await site.fetch(`${site.server.url}/stalled`, { signal: abort.signal });
  const body = response.body();
  abort.abort(reason);

  await expect(silent).rejects.toBe(reason);
  await expect(body).rejects.toBe(reason);
  await expect(site.fetch(`${site.server.url}/silent`, { signal: abort.signal })).rejects.toBe(reason);
});

test("errors show neither the query nor anything of the system", async () => {
  await using site = await startSite({ "/": badPages.broken() });

  await expect(site.read("/?token=s3cret")).rejects.toMatchObject({
    message: expect.not.stringMatching(/s3cret|ECONN|undici|node:|at /),
  });
});

test("a request with effects carries its body, and its redirect is an answer", async () => {
  const bodies: string[] = [];
  await using site = await startSite({
    "/": async (request, response) => {
      bodies.push(`${request.method} ${await text(request)}`);
      response.writeHead(303, { location: "/elsewhere" }).end();
    },
  });
  await using response = await site.fetch(`${site.server.url}/`, { method: "POST", body: '{"a":1}' });

  expect([response.status, bodies, site.server.requests.length]).toEqual([303, ['POST {"a":1}'], 1]);
});

test("what goes wrong after a request with effects was sent may have been carried out, what went wrong before was not", async () => {
  await using site = await startSite(
    {
      "/broken": (request) => void request.socket.destroy(),
      "/silent": badPages.silent(),
      "/stalled": badPages.stalled(),
    },
    { timeoutMs: 300 },
  );
  const post = (url: string) => site.fetch(url, { method: "POST", body: "x" });
  const refused = await startPageServer({});
  await refused[Symbol.asyncDispose]();
  await using stalled = await post(`${site.server.url}/stalled`);

  const outcomes = await Promise.allSettled([
    post(`${site.server.url}/broken`),
    post(`${site.server.url}/silent`),
    stalled.body(),
  ]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      reason: {
        code: "outcome_unknown",
        isRetryable: false,
        message: expect.stringContaining("may have been carried out"),
      },
    });
  }
  await expect(post("http://10.0.0.1/")).rejects.toMatchObject({ code: "denied" });
  await using toNobody = createPublicFetch({ allowAddresses: [`127.0.0.1:${refused.port}`] });
  await expect(toNobody(`${refused.url}/`, { method: "POST" })).rejects.toMatchObject({ code: "unavailable" });
});

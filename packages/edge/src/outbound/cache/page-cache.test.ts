import { type Page, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createPublicFetch, type FetchOptions, type PublicFetchOptions } from "../public-fetch.ts";
import { createMemoryPageStore, MAX_KEPT_BYTES, type PageStore } from "./page-store.ts";

/** A site with `pages`, and a fetch with a store. */
async function startSite(
  pages: Record<string, Page>,
  { store = createMemoryPageStore({ maxBytes: 8_000_000 }), ...options }: PublicFetchOptions = {},
) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startPageServer(pages));
  const fetch = stack.use(createPublicFetch({ allowAddresses: [`127.0.0.1:${server.port}`], store, ...options }));
  return {
    server,
    fetch,
    store,
    async read(path: string, options: FetchOptions = {}) {
      await using response = await fetch(server.url + path, options);
      return { status: response.status, text: Buffer.from((await response.body()).bytes).toString() };
    },
    /** The paths that were asked for. */
    asked: () => server.requests.map((request) => request.path),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const fresh = { "cache-control": "max-age=600" };
/** A page that says 304 to its own mark. */
const marked =
  (mark: { readonly etag?: string; readonly "last-modified"?: string }, body: string, headers: object = {}): Page =>
  (request, response) => {
    const isSame =
      request.headers["if-none-match"] === (mark.etag ?? "-") ||
      request.headers["if-modified-since"] === (mark["last-modified"] ?? "-");
    response.writeHead(isSame ? 304 : 200, { ...mark, ...headers });
    response.end(isSame ? undefined : body);
  };

test("what a site calls fresh is asked for once, whatever the fragment", async () => {
  await using site = await startSite({ "/a": { headers: { ...fresh, "content-encoding": "identity" }, body: "text" } });

  for (const path of ["/a", "/a#part", "/a"]) expect(await site.read(path)).toEqual({ status: 200, text: "text" });
  expect(site.asked()).toEqual(["/a"]);
});

test.each([
  ["an ETag", marked({ etag: '"1"' }, "text")],
  ["a weak ETag", marked({ etag: 'W/"1"' }, "text")],
  ["a date", marked({ "last-modified": "Mon, 02 Nov 2026 10:00:00 GMT" }, "text")],
  ["no-cache", marked({ etag: '"1"' }, "text", { "cache-control": "no-cache" })],
])("a page with %s is asked for again, and its body comes once", async (_, page) => {
  let bodies = 0;
  await using site = await startSite({
    "/a": (request, response) => {
      response.on("finish", () => {
        if (response.statusCode === 200) bodies++;
      });
      return (page as (...to: [typeof request, typeof response]) => void)(request, response);
    },
  });

  for (let i = 0; i < 3; i++) expect(await site.read("/a")).toEqual({ status: 200, text: "text" });
  expect([site.asked().length, bodies]).toEqual([3, 1]);
});

test.each([
  ["no-store", { "cache-control": "No-Store, max-age=600" }],
  ["two ages", { "cache-control": "max-age=0, max-age=600" }],
  ["two ages in the other order", { "cache-control": "max-age=600, max-age=0" }],
  ["private", { "cache-control": "Private, max-age=600" }],
  ["a cookie", { ...fresh, "set-cookie": "a=b" }],
  ["no word of it", {}],
  ["vary: *", { ...fresh, vary: "*" }],
  ["an age that is over", { ...fresh, age: "600" }],
  ["a past date", { expires: "Mon, 02 Nov 2020 10:00:00 GMT" }],
])("an answer with %s is not given again", async (_, headers) => {
  await using site = await startSite({ "/a": { headers: headers as Record<string, string>, body: "text" } });

  await site.read("/a");
  await site.read("/a");
  expect(site.asked()).toEqual(["/a", "/a"]);
});

test.each<[string, Record<string, string>, number, string]>([
  ["says that it may be", { "cache-control": "max-age=0, stale-if-error=600" }, 503, "200 text"],
  ["says it, and has a mark", { "cache-control": "max-age=0, Stale-If-Error=600", etag: '"1"' }, 500, "200 text"],
  ["is too old for that", { "cache-control": "max-age=0, stale-if-error=60", age: "61" }, 503, "503 error"],
  [
    "has to be asked for",
    { "cache-control": "max-age=0, stale-if-error=600, must-revalidate", etag: '"1"' },
    503,
    "503 error",
  ],
  ["says nothing of it", { "cache-control": "max-age=0", etag: '"1"' }, 503, "503 error"],
  ["is gone", { "cache-control": "max-age=0, stale-if-error=600" }, 404, "404 error"],
])("a kept answer stands in for a site's error where that is allowed: it %s", async (_, headers, status, given) => {
  let asked = 0;
  await using site = await startSite({
    "/a": (_, response) =>
      void (asked++ === 0 ? response.writeHead(200, headers).end("text") : response.writeHead(status).end("error")),
  });

  await site.read("/a");
  const answer = await site.read("/a");
  expect([`${answer.status} ${answer.text}`, asked]).toEqual([given, 2]);
});

test("a kept answer that differs by a header stands in for an error only for those who send the same", async () => {
  let status = 200;
  const headers = { "cache-control": "max-age=0, stale-if-error=600", vary: "User-Agent" };
  await using site = await startSite({ "/a": (_, response) => void response.writeHead(status, headers).end("text") });
  await using other = createPublicFetch({
    allowAddresses: [`127.0.0.1:${site.server.port}`],
    store: site.store,
    userAgent: "Other",
  });

  await site.read("/a");
  status = 503;
  expect((await site.read("/a")).status).toBe(200);
  await using refused = await other(`${site.server.url}/a`);
  expect(refused.status).toBe(503);
});

test("an answer that differs by a header is given to those who send the same", async () => {
  await using site = await startSite({ "/a": { headers: { ...fresh, vary: "User-Agent" }, body: "text" } });
  await using other = createPublicFetch({
    allowAddresses: [`127.0.0.1:${site.server.port}`],
    store: site.store,
    userAgent: "Other",
  });

  await site.read("/a");
  await site.read("/a");
  await using response = await other(`${site.server.url}/a`);
  expect([response.status, site.asked().length]).toEqual([200, 2]);
});

test.each(["authorization", "Cookie", "x-api-key"])(
  "a request with %s is answered by the site, and its answer is nobody else's",
  async (name) => {
    await using site = await startSite({ "/a": { headers: { "cache-control": "public, max-age=600" }, body: "text" } });

    await site.read("/a", { headers: { [name]: "secret" } });
    await site.read("/a");
    await site.read("/a", { headers: { [name]: "secret" } });
    expect(site.asked()).toHaveLength(3);
  },
);

test("an answer that broke off, or whose end nothing tells, is not kept", async () => {
  await using site = await startSite({
    "/broken": (_, response) => {
      response.writeHead(200, { ...fresh, "content-length": "100" });
      response.write("begun");
      setImmediate(() => response.destroy());
    },
    "/endless": ({ socket }) =>
      void socket.end("HTTP/1.1 200 OK\r\ncache-control: max-age=600\r\nconnection: close\r\n\r\nbegun"),
  });

  await expect(site.read("/broken")).rejects.toMatchObject({ code: "unavailable" });
  await expect(site.read("/broken")).rejects.toMatchObject({ code: "unavailable" });
  await site.read("/endless");
  await site.read("/endless");
  expect(site.asked()).toHaveLength(4);
});

test("a kept redirect leads to no address that is not permitted, and without a connection", async () => {
  await using inside = await startPageServer({ "/": "secret" });
  await using site = await startSite({
    "/in": { status: 301, headers: { ...fresh, location: `${inside.url}/` } },
    "/ok": { status: 301, headers: { ...fresh, location: "/a" } },
    "/a": { headers: fresh, body: "text" },
  });

  for (let i = 0; i < 2; i++) await expect(site.read("/in")).rejects.toMatchObject({ code: "denied" });
  for (let i = 0; i < 2; i++) expect((await site.read("/ok")).text).toBe("text");
  expect(site.asked()).toEqual(["/in", "/ok", "/a"]);
  expect(inside.connections).toBe(0);
});

test("what was read by other rules about addresses is not given", async () => {
  await using site = await startSite({ "/a": { headers: fresh, body: "text" } });
  await site.read("/a");
  await using strict = createPublicFetch({ store: site.store });
  await using other = createPublicFetch({
    allowAddresses: [`127.0.0.1:${site.server.port}`, "127.0.0.9:1"],
    store: site.store,
  });

  await expect(strict(`${site.server.url}/a`)).rejects.toMatchObject({ code: "denied" });
  await using response = await other(`${site.server.url}/a`);
  expect((await response.body()).bytes).toHaveLength(4);
  expect(site.asked()).toHaveLength(2);
});

test("a page that is too large is not kept, and the store stays within its bound", async () => {
  const large = { headers: fresh, body: Buffer.alloc(MAX_KEPT_BYTES + 1, "x") };
  const some = Object.fromEntries(
    Array.from({ length: 5 }, (_, i) => [`/${i}`, { headers: fresh, body: Buffer.alloc(300_000, "x") }]),
  );
  await using site = await startSite(
    { "/large": large, ...some },
    { store: createMemoryPageStore({ maxBytes: 1_000_000 }) },
  );

  await site.read("/large");
  await site.read("/large");
  for (const path of Object.keys(some)) await site.read(path);
  await site.read("/4");
  await site.read("/0");
  expect(site.asked()).toEqual(["/large", "/large", "/0", "/1", "/2", "/3", "/4", "/0"]);
});

const bad: Readonly<Record<string, (kept: Uint8Array) => Uint8Array>> = {
  nothing: () => new Uint8Array(),
  noise: () => Buffer.from("\u0000\u0001noise\n".repeat(1_000)),
  "a head without an end": () => Buffer.alloc(500_000, "{"),
  "another key": (kept) =>
    Buffer.from(
      Buffer.from(kept)
        .toString("latin1")
        .replace(/"key":"../, '"key":"zz'),
      "latin1",
    ),
  "a header that would be two": (kept) =>
    Buffer.from(Buffer.from(kept).toString("latin1").replace('"etag":"', '"etag":"\\r\\nx-evil: 1'), "latin1"),
  "a status that is none": (kept) =>
    Buffer.from(Buffer.from(kept).toString("latin1").replace('"status":200', '"status":"200"'), "latin1"),
  "too much": (kept) => Buffer.concat([kept, Buffer.alloc(MAX_KEPT_BYTES)]),
  "a date long ago": (kept) =>
    Buffer.from(
      Buffer.from(kept)
        .toString("latin1")
        .replace(/"keptAt":\d+/, '"keptAt":1'),
      "latin1",
    ),
  "a date to come": (kept) =>
    Buffer.from(
      Buffer.from(kept)
        .toString("latin1")
        .replace(/"keptAt":\d/, '"keptAt":9'),
      "latin1",
    ),
};

test.each(Object.keys(bad))("a store that gives %s costs a fetch, and no more", async (name) => {
  const memory = createMemoryPageStore({ maxBytes: 8_000_000 });
  const store: PageStore = {
    async get(key) {
      const kept = await memory.get(key);
      return kept && bad[name]?.(kept);
    },
    set: memory.set,
  };
  await using site = await startSite({ "/a": { headers: { ...fresh, etag: '"1"' }, body: "text" } }, { store });

  for (let i = 0; i < 2; i++) expect(await site.read("/a")).toEqual({ status: 200, text: "text" });
  expect(site.server.requests).toMatchObject([{ path: "/a" }, { path: "/a" }]);
  for (const name of ["x-evil", "if-none-match"]) expect(site.server.requests[1]?.headers).not.toHaveProperty(name);
});

test.each([
  ["fails", () => Promise.reject(new Error("away"))],
  ["hangs", () => new Promise<never>(() => {})],
])("a store that %s costs a fetch, and no more", async (_, answer) => {
  await using site = await startSite(
    { "/a": { headers: fresh, body: "text" } },
    { store: { get: answer, set: answer } },
  );

  expect(await site.read("/a")).toEqual({ status: 200, text: "text" });
});

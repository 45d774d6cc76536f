import type { Socket } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { ToolError } from "@rockbot/contracts";
import { badPages, type Page, startPageServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestWebTools } from "../test-web-tools.ts";

const MAX_PAGE_BYTES = 1_000_000;
const BOMB_BYTES = 200_000_000;
/** More than a hostile page may add, as the kernel counts it. */
const MAX_GROWTH_BYTES = 150_000_000;

const zeros = Buffer.alloc(BOMB_BYTES, "0");
const packed = (encoding: string, body: Buffer): Page => ({ headers: { "content-encoding": encoding }, body });
/** Writes to the connection what a server may, and what no HTTP library would. */
const raw =
  (write: (socket: Socket) => void): Page =>
  ({ socket }) =>
    write(socket);
const manySelectors = `<style>${"a b ".repeat(1_000)}{display:none}</style>`.repeat(100);
const typed = (contentType: string, body: string | Buffer): Page => ({ headers: { "content-type": contentType }, body });
const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join("");
const pdf = (pages: string, stream: Buffer): Page =>
  typed(
    "application/pdf",
    Buffer.concat([
      Buffer.from(`%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[${pages}]/Count 9>>endobj\n`),
      Buffer.from(`3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n4 0 obj<</Length ${stream.length}/Filter/FlateDecode>>stream\n`),
      stream,
      Buffer.from("\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF"),
    ]),
  );
const html = (body: string): Page => ({ body: `<!doctype html><title>T</title><body>${body}` });

/** Pages that give the beginning of a text, or that of a refusal: neither takes long, or much memory. */
const pages: Readonly<Record<string, Page>> = {
  "/gzip-bomb": packed("gzip", gzipSync(zeros)),
  "/deflate-bomb": packed("deflate", deflateSync(zeros)),
  "/brotli-bomb": packed("br", brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })),
  "/zstd-bomb": packed("zstd", zstdCompressSync(zeros)),
  "/bomb-in-a-bomb": packed("gzip, gzip", gzipSync(gzipSync(zeros))),
  "/no-such-encoding": packed("gzip", Buffer.from("not packed at all")),
  "/endless": badPages.endless(),
  "/endless-drip": badPages.dripping(20),
  "/silent": badPages.silent(),
  "/stalled": badPages.stalled(),
  "/broken": badPages.broken(),
  "/no-http": badPages.noHttp(),
  "/longer-than-said": raw((socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\n<p>x${"y".repeat(1_000)}`)),
  "/two-lengths": raw((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\n<p>xyz")),
  "/informational-flood": raw((socket) => {
    for (let i = 0; i < 20_000 && !socket.destroyed; i++) socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n");
  }),
  "/cookie-flood": (_, response) => {
    response.setHeader(
      "set-cookie",
      Array.from({ length: 5_000 }, (__, i) => `c${i}=${"v".repeat(50)}`),
    );
    response.end("<p>x");
  },
  "/redirect-loop": badPages.redirect("/redirect-loop"),
  "/redirect-to-a-file": badPages.redirect("file:///etc/passwd"),
  "/redirect-to-metadata": badPages.redirect("http://169.254.169.254/latest/meta-data/"),
  "/nested": html("<div>".repeat(100_000)),
  "/line-breaks": html("<br>".repeat(240_000)),
  "/attributes": html(`<p ${Array.from({ length: 100_000 }, (_, i) => `a${i}`).join(" ")}>x`),
  "/entities": html("&amp;".repeat(190_000)),
  "/unclosed": html("<a href='".repeat(100_000)),
  "/tables": html("<table><tr><td>".repeat(30_000)),
  "/selectors": html(`${manySelectors}<p>x`),
  "/json-of-arrays": typed("application/json", `${"[".repeat(400_000)}${"]".repeat(400_000)}`),
  "/json-of-numbers": typed("application/json", `[${"1,".repeat(400_000)}1]`),
  "/json-for-machines": html(`<script type="application/ld+json">{"@type":"Article","author":${"[".repeat(300_000)}${"]".repeat(300_000)}}</script><p>x`),
  "/xml-entities": typed("text/xml", `<!DOCTYPE r [<!ENTITY e0 "aaaaaaaaaa">${entities}]><rss version="2.0"><channel><title>&e9;</title></channel></rss>`),
  "/xml-of-a-file": typed("text/xml", `<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>&f;</title></channel></rss>`),
  "/xml-elements": typed("application/rss+xml", `<rss version="2.0"><channel>${"<item>".repeat(150_000)}`),
  "/feed-items": typed("application/rss+xml", `<rss version="2.0"><channel>${"<item><title>a</title></item>".repeat(30_000)}</channel></rss>`),
  "/xhtml-elements": typed("application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><body>${"<p/>".repeat(240_000)}`),
  "/svg": typed("image/svg+xml", `<svg>${"<g>".repeat(300_000)}`),
  "/svg-in-a-page": html(`${"<svg><g>".repeat(100_000)}`),
  "/pdf-bomb": pdf("3 0 R", deflateSync(zeros)),
  "/pdf-of-itself": pdf("2 0 R 3 0 R ".repeat(9), deflateSync(Buffer.from("BT ET"))),
  "/huge-image": typed("image/png", Buffer.from("89504e470d0a1a0a0000000d49484452ffffffffffffffff0806000000", "hex")),
  "/rows-of-rows": html(`<table>${`<tr>${"<td rowspan=65000>".repeat(300)}`.repeat(150)}`),
  "/trailer-flood": raw((socket) => socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n<p>\r\n0\r\n${"a: b\r\n".repeat(50_000)}\r\n`)),
  "/ten-gigabytes": raw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\ncontent-length: 10000000000\r\n\r\n%PDF-")),
  "/headers-in-drops": raw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nx: ");
    const drops = setInterval(() => socket.write("a"), 50);
    socket.on("close", () => clearInterval(drops));
  }),
  "/redirect-with-a-name": badPages.redirect("http://user:word@127.0.0.1/"),
  "/redirect-to-a-port": badPages.redirect("http://example.com:22/"),
  "/redirect-of-two-slashes": badPages.redirect("//169.254.169.254/latest/"),
  "/wrong-charset": { headers: { "content-type": "text/html; charset=no-such-charset" }, body: Buffer.from("<p>gr\xfc\xdfe", "latin1") },
};

test("whatever a server does, each call ends in an answer or a typed refusal, with little memory, and the next call is answered", {
  timeout: 120_000,
}, async () => {
  await using secret = await startPageServer({ "/": "<p>secret" });
  const good = html("<p>All is well.");
  const refresh = html(`<meta http-equiv=refresh content='0;url=${secret.url}/'><img src='${secret.url}/x.png'><iframe src='${secret.url}/'></iframe><p>Stay.`);
  await using web = await startTestWebTools(
    { ...pages, "/good": good, "/refresh": refresh, "/redirect-inside": badPages.redirect(`${secret.url}/`) },
    { MAX_PAGE_BYTES: String(MAX_PAGE_BYTES), FETCH_TIMEOUT_MS: "3000", IDLE_TIMEOUT_MS: "1000", CONVERT_TIMEOUT_MS: "2000" },
  );
  await web.browse("/good");
  const before = process.memoryUsage.rss();
  let most = before;
  for (const path of [...Object.keys(pages), "/redirect-inside"]) {
    const ended = await web.browse(path).then(
      ({ content }) => ({ content: content ?? "", code: undefined }),
      (error: ToolError) => ({ content: "", code: error.code }),
    );
    if (ended.code === undefined) {
      expect(ended.content.length, path).toBeLessThan(3 * MAX_PAGE_BYTES);
      expect(ended.content, path).not.toMatch(/<script|root:/);
    } else expect(["too_large", "timeout", "unavailable", "execution_failed", "denied", "invalid_arguments"], path).toContain(ended.code);
    most = Math.max(most, process.memoryUsage.rss());
  }
  expect(most - before).toBeLessThan(MAX_GROWTH_BYTES);
  expect((await web.browse("/refresh")).content).toContain("Stay.");
  expect(secret.connections).toBe(0);
  expect((await web.browse("/good")).content).toContain("All is well.");
});

import { readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { ToolError } from "@rockbot/contracts";
import { badPages, type Page, startPageServer, zip } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestWebTools } from "../test-web-tools.ts";

const MAX_PAGE_BYTES = 1_000_000;
const BOMB_BYTES = 200_000_000;
/** More than a hostile page may add, as the kernel counts it. */
const MAX_GROWTH_BYTES = 150_000_000;
/**
 * More than a hostile page may take, in milliseconds of the processor: how long the wall clock says depends on what
 * else the machine does.
 */
const MAX_CPU_MS = 10_000;
/** A process that ends between two looks has been seen shortly before. */
const LOOK_MS = 10;

const zeros = Buffer.alloc(BOMB_BYTES, "0");
const packed = (encoding: string, body: Buffer): Page => ({ headers: { "content-encoding": encoding }, body });
/** Writes to the connection what a server may, and what no HTTP library would. */
const raw =
  (write: (socket: Socket) => void): Page =>
  ({ socket }) =>
    write(socket);
const manySelectors = `<style>${"a b ".repeat(1_000)}{display:none}</style>`.repeat(100);
const typed = (contentType: string, body: string | Buffer): Page => ({
  headers: { "content-type": contentType },
  body,
});
const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join("");
const pdf = (pages: string, stream: Buffer, count = 9): Page =>
  typed(
    "application/pdf",
    Buffer.concat([
      Buffer.from(
        `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[${pages}]/Count ${count}>>endobj\n`,
      ),
      Buffer.from(
        `3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n4 0 obj<</Length ${stream.length}/Filter/FlateDecode>>stream\n`,
      ),
      stream,
      Buffer.from("\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF"),
    ]),
  );
const docx = (xml: string | Buffer): Buffer => zip({ "word/document.xml": xml }, { isDeflated: true });
/** Its directory says that its one part is short. */
function lyingDocx(): Buffer {
  const bytes = docx(zeros);
  bytes.writeUInt32LE(1_000, bytes.lastIndexOf("PK\x01\x02") + 24);
  return bytes;
}
/** Its text is in a part that looks like a picture. */
const disguisedDocx = (): Buffer =>
  zip(
    {
      "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="a.png"/></Relationships>`,
      "a.png": zeros,
    },
    { isDeflated: true },
  );
const paragraphs = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${"<w:p/>".repeat(3_000_000)}</w:body></w:document>`;
const asDocx = (body: Buffer): Page =>
  typed("application/vnd.openxmlformats-officedocument.wordprocessingml.document", body);
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
  "/longer-than-said": raw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\n<p>x${"y".repeat(1_000)}`),
  ),
  "/two-lengths": raw((socket) =>
    socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\n<p>xyz"),
  ),
  "/informational-flood": raw((socket) => {
    for (let i = 0; i < 20_000 && !socket.destroyed; i++)
      socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n");
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
  "/json-for-machines": html(
    `<script type="application/ld+json">{"@type":"Article","author":${"[".repeat(300_000)}${"]".repeat(300_000)}}</script><p>x`,
  ),
  "/xml-entities": typed(
    "text/xml",
    `<!DOCTYPE r [<!ENTITY e0 "aaaaaaaaaa">${entities}]><rss version="2.0"><channel><title>&e9;</title></channel></rss>`,
  ),
  "/xml-of-a-file": typed(
    "text/xml",
    `<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>&f;</title></channel></rss>`,
  ),
  "/xml-elements": typed("application/rss+xml", `<rss version="2.0"><channel>${"<item>".repeat(150_000)}`),
  "/feed-items": typed(
    "application/rss+xml",
    `<rss version="2.0"><channel>${"<item><title>a</title></item>".repeat(30_000)}</channel></rss>`,
  ),
  "/xhtml-elements": typed(
    "application/xhtml+xml",
    `<html xmlns="http://www.w3.org/1999/xhtml"><body>${"<p/>".repeat(240_000)}`,
  ),
  "/svg": typed("image/svg+xml", `<svg>${"<g>".repeat(300_000)}`),
  "/svg-in-a-page": html(`${"<svg><g>".repeat(100_000)}`),
  "/pdf-bomb": pdf("3 0 R", deflateSync(zeros)),
  "/pdf-of-itself": pdf("2 0 R 3 0 R ".repeat(9), deflateSync(Buffer.from("BT ET"))),
  "/pdf-of-nested-arrays": pdf("3 0 R", deflateSync(Buffer.from(`BT ${"[".repeat(400_000)} TJ ET`))),
  "/pdf-of-nested-pages": pdf(`${"[".repeat(300_000)}3 0 R`, deflateSync(Buffer.from("BT ET"))),
  "/pdf-of-many-pages": pdf("3 0 R", deflateSync(Buffer.from("BT ET")), 2_000_000_000),
  "/pdf-of-one-page-many-times": pdf("3 0 R ".repeat(150_000), deflateSync(Buffer.from("BT ET"))),
  "/docx-bomb": asDocx(docx(zeros)),
  "/docx-that-lies": asDocx(lyingDocx()),
  "/docx-in-disguise": asDocx(disguisedDocx()),
  "/docx-elements": asDocx(docx(paragraphs)),
  "/atom-entities": typed(
    "application/atom+xml",
    `<!DOCTYPE feed [<!ENTITY e0 "aaaaaaaaaa">${entities}]><feed xmlns="http://www.w3.org/2005/Atom"><title>&e9;</title><entry><title>&e9;</title></entry></feed>`,
  ),
  "/huge-image": typed("image/png", Buffer.from("89504e470d0a1a0a0000000d49484452ffffffffffffffff0806000000", "hex")),
  "/rows-of-rows": html(`<table>${`<tr>${"<td rowspan=65000>".repeat(300)}`.repeat(150)}`),
  "/trailer-flood": raw((socket) =>
    socket.end(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n<p>\r\n0\r\n${"a: b\r\n".repeat(50_000)}\r\n`,
    ),
  ),
  "/ten-gigabytes": raw((socket) =>
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\ncontent-length: 10000000000\r\n\r\n%PDF-"),
  ),
  "/headers-in-drops": raw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nx: ");
    const drops = setInterval(() => socket.write("a"), 50);
    socket.on("close", () => clearInterval(drops));
  }),
  "/redirect-with-a-name": badPages.redirect("http://user:word@127.0.0.1/"),
  "/redirect-to-a-port": badPages.redirect("http://example.com:22/"),
  "/redirect-of-two-slashes": badPages.redirect("//169.254.169.254/latest/"),
  "/wrong-charset": {
    headers: { "content-type": "text/html; charset=no-such-charset" },
    body: Buffer.from("<p>gr\xfc\xdfe", "latin1"),
  },
};

/** The refusals of pages that are small only as long as they are packed. */
const refusals: Readonly<Record<string, RegExp>> = {
  "/pdf-bomb": /it takes (too much memory|longer than)/,
  "/docx-bomb": /it has more than 50000000 bytes of XML once it is unpacked/,
  "/docx-that-lies": /it has more than 50000000 bytes of XML once it is unpacked/,
  "/docx-in-disguise": /it takes (too much memory|longer than)/,
  "/docx-elements": /it takes (too much memory|longer than)/,
};

interface Usage {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** What this process has not started. */
const strangers = new Set<string>();

/** What each process of the converter holds now, and how long it has worked, by its id. */
function converters(): ReadonlyMap<string, Usage> {
  const found = new Map<string, Usage>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name) && !strangers.has(name))) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "latin1");
      if (!status.includes(`\nPPid:\t${process.pid}\n`)) strangers.add(pid);
      else if (readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("page-process-main")) {
        const [, userTicks, systemTicks] =
          /\) (?:\S+ ){11}(\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
        const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
        found.set(pid, {
          rssBytes: Number(kibibytes ?? 0) * 1_024,
          cpuMs: (Number(userTicks) + Number(systemTicks)) * 10,
        });
      }
    } catch {} // it has ended
  }
  return found;
}

const heldBytes = (): number => Math.max(0, ...Array.from(converters().values(), ({ rssBytes }) => rssBytes));

/** What the converter holds at most while `start` runs, and how long it works for it. */
async function watched<T>(start: () => Promise<T>): Promise<Usage & { readonly result: T }> {
  const before = converters();
  const spent = new Map<string, number>();
  let rssBytes = 0;
  const look = (): void => {
    for (const [pid, now] of converters()) {
      rssBytes = Math.max(rssBytes, now.rssBytes);
      spent.set(pid, now.cpuMs - (before.get(pid)?.cpuMs ?? 0));
    }
  };
  const looking = setInterval(look, LOOK_MS);
  try {
    const result = await start();
    look();
    return { result, rssBytes, cpuMs: [...spent.values()].reduce((sum, ms) => sum + ms, 0) };
  } finally {
    clearInterval(looking);
  }
}

test("whatever a server does, each call ends in an answer or a typed refusal, with little memory, and the next call is answered", {
  timeout: 120_000,
}, async () => {
  await using secret = await startPageServer({ "/": "<p>secret" });
  const good = html("<p>All is well.");
  const refresh = html(
    `<meta http-equiv=refresh content='0;url=${secret.url}/'><img src='${secret.url}/x.png'><iframe src='${secret.url}/'></iframe><p>Stay.`,
  );
  await using web = await startTestWebTools(
    { ...pages, "/good": good, "/refresh": refresh, "/redirect-inside": badPages.redirect(`${secret.url}/`) },
    {
      MAX_PAGE_BYTES: String(MAX_PAGE_BYTES),
      FETCH_TIMEOUT_MS: "3000",
      IDLE_TIMEOUT_MS: "1000",
      CONVERT_TIMEOUT_MS: "2000",
    },
  );
  await web.browse("/good");
  const before = process.memoryUsage.rss();
  let most = before;
  const warmBytes = heldBytes();
  for (const path of [...Object.keys(pages), "/redirect-inside"]) {
    const startBytes = Math.max(warmBytes, heldBytes());
    const browse = (): Promise<{ content: string; code?: string }> =>
      web.browse(path).then(
        ({ content }) => ({ content: content ?? "" }),
        (error: ToolError) => ({ content: error.message, code: error.code }),
      );
    const { result: ended, rssBytes, cpuMs } = await watched(browse);
    expect(cpuMs, path).toBeLessThan(MAX_CPU_MS);
    expect(rssBytes - startBytes, path).toBeLessThan(MAX_GROWTH_BYTES);
    expect(ended.content, path).toMatch(refusals[path] ?? "");
    if (ended.code === undefined) {
      expect(ended.content.length, path).toBeLessThan(3 * MAX_PAGE_BYTES);
      expect(ended.content, path).not.toMatch(/<script|root:/);
    } else
      expect(
        ["too_large", "timeout", "unavailable", "execution_failed", "denied", "invalid_arguments"],
        path,
      ).toContain(ended.code);
    most = Math.max(most, process.memoryUsage.rss());
  }
  expect(most - before).toBeLessThan(MAX_GROWTH_BYTES);
  expect((await web.browse("/refresh")).content).toContain("Stay.");
  expect(secret.connections).toBe(0);
  expect((await web.browse("/good")).content).toContain("All is well.");
});

import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { documentKind } from "./document/document-kind.ts";
import { kindByBytes, kindByType, mediaTypeOf } from "./media-type.ts";

test.each([
  ["text/html", { kind: "html" }],
  ["application/xhtml+xml", { kind: "html", isXml: true }],
  ["text/plain", { kind: "text" }],
  ["text/markdown", { kind: "text" }],
  ["application/json", { kind: "text", fence: "json" }],
  ["application/ld+json", { kind: "text", fence: "json" }],
  ["application/rss+xml", { kind: "feed" }],
  ["application/xml", { kind: "text", fence: "xml" }],
  ["text/csv", { kind: "text", fence: "csv" }],
  ["application/javascript", { kind: "text", fence: "js" }],
  ["application/pdf", { kind: "unreadable", what: "a PDF document", document: "pdf" }],
  ["image/png", { kind: "unreadable", what: "an image" }],
  ["image/svg+xml", { kind: "unreadable", what: "an image" }],
  ["application/zip", { kind: "unreadable", what: "an archive" }],
  [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    { kind: "unreadable", what: "an office document", document: "docx" },
  ],
  ["video/mp4", { kind: "unreadable", what: "a video" }],
  ["application/octet-stream", undefined],
  ["", undefined],
  ["nonsense", undefined],
])("the type %j is %j", (type, kind) => {
  expect(kindByType(type)).toEqual(kind);
});

test("a Content-Type's parameters and case do not matter", () => {
  expect(mediaTypeOf("Text/HTML ; charset=utf-8")).toBe("text/html");
  expect(mediaTypeOf(undefined)).toBe("");
});

test.each([
  ["PK\x03\x04\x14\x00", "an archive"],
  [gzipSync("hello"), "an archive"],
  [Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "an image"],
  ["GIF89a", "an image"],
  [Buffer.from("\xff\xd8\xff\xe0", "latin1"), "an image"],
  ["RIFF\x10\x00\x00\x00WEBPVP8 ", "an image"],
  ["\x00\x00\x00\x18ftypmp42", "a video"],
  ["\x7fELF\x02", "a program"],
  ["\x00asm\x01", "a program"],
  ["some\x00thing", "binary data"],
])("bytes that begin %j are %s, whatever the server says", (bytes, what) => {
  for (const declared of [undefined, { kind: "html" }, { kind: "text" }] as const) {
    expect(kindByBytes(Buffer.from(bytes), declared)).toEqual({ kind: "unreadable", what });
  }
});

test("a PDF document is one whatever the server says", () => {
  expect(kindByBytes(Buffer.from("%PDF-1.7"), { kind: "html" })).toEqual({
    kind: "unreadable",
    what: "a PDF document",
    document: "pdf",
  });
});

const rss = "<?xml version='1.0'?><!-- x --><rss version='2.0'>";
test.each([
  ["text/html", rss, { kind: "feed" }],
  ["text/xml", rss, { kind: "feed" }],
  ["text/plain", rss, { kind: "text" }],
  ["application/xml", '<feed xmlns="http://www.w3.org/2005/Atom">', { kind: "feed" }],
  ["application/xml", '<atom:feed xmlns:atom="http://www.w3.org/2005/Atom">', { kind: "feed" }],
  ["application/xml", `<?xml version="1.0"?><!--${" license".repeat(200)} --><rss version="2.0">`, { kind: "feed" }],
  [
    "application/xml",
    '<?xml-stylesheet href="a>b.xsl"?><!DOCTYPE rss [<!ENTITY nbsp "&#160;">]><rss version="2.0">',
    { kind: "feed" },
  ],
  ["application/xml", '<rdf:RDF xmlns:rdf="r" xmlns="http://my.netscape.com/rdf/simple/0.9/">', { kind: "feed" }],
  ["application/xml", "<feed>", { kind: "text", fence: "xml" }],
  ["application/json", '{"version": "https://jsonfeed.org/version/1"', { kind: "feed" }],
  ["application/xml", "<html xmlns='http://www.w3.org/1999/xhtml'>", { kind: "html", isXml: true }],
  ["application/xml", "<h:html xmlns:h='http://www.w3.org/1999/xhtml'>", { kind: "html", isXml: true }],
  ["text/html", "<html xmlns='http://www.w3.org/1999/xhtml'>", { kind: "html" }],
  ["text/html", ' {"a":1}', { kind: "text", fence: "json" }],
  ["text/html", "{{ template }} <p>x", { kind: "html" }],
])("a text called %s that begins %j is %j", (type, text, kind) => {
  expect(kindByBytes(Buffer.from(text), kindByType(type))).toEqual(kind);
});

test.each([
  ["<?xml version='1.0'?><a/>", { kind: "text", fence: "xml" }],
  ["<!DOCTYPE html><p>x", { kind: "html" }],
  ["\ufeff \n<html lang=en>", { kind: "html" }],
  ["<!-- a comment --><p>x", { kind: "html" }],
  ["just words", { kind: "text" }],
  ["", { kind: "text" }],
])("where the server says nothing, %j is %j", (text, kind) => {
  expect(kindByBytes(Buffer.from(text), undefined)).toEqual(kind);
});

test("UTF-16 is no binary data", () => {
  expect(kindByBytes(Buffer.from("\ufeffhello", "utf16le"), undefined)).toEqual({ kind: "text" });
});

test.each([
  ["begins with a tag", `<html><p>${"港口很安静一".repeat(300)}`, undefined],
  ["is so by its header", "港口很安静一".repeat(300), "text/html; charset=utf-16le"],
])("UTF-16 of a language without ASCII that %s is no binary data", (_, text, contentType) => {
  expect(kindByBytes(Buffer.from(text, "utf16le"), { kind: "html" }, contentType)).toEqual({ kind: "html" });
});

test("a page with a zero byte or a control character is a page", () => {
  for (const declared of [undefined, { kind: "html" }] as const)
    expect(kindByBytes(Buffer.from("<!doctype html><p>a\0b\x01c"), declared)).toEqual({ kind: "html" });
});

test("a document without a type is known by what it begins with and holds, also a little later", () => {
  const pdf = "%PDF-1.4\n1 0 obj<<>>endobj\nstartxref\n0\n%%EOF";
  const known = { kind: "unreadable", what: "a PDF document", document: "pdf" };
  for (const before of ["", "\r\n\r\n", "\ufeff", "--part\r\nContent-Type: application/pdf\r\n\r\n"])
    expect(kindByBytes(Buffer.from(before + pdf), undefined), before).toEqual(known);
  expect(kindByBytes(Buffer.from("A text that speaks of %PDF-1.4."), undefined)).toEqual({ kind: "text" });
  const entry = (name: string): string => `PK\x03\x04${"\0".repeat(26)}${name}`;
  expect(
    documentKind(Buffer.from(`${entry("[Content_Types].xml")}<>${entry("word/document.xml")}<>`), "/download"),
  ).toBe("docx");
  expect(
    documentKind(
      Buffer.from(`${entry("files/a.docx")}${entry("[Content_Types].xml")}${entry("word/document.xml")}`),
      "/download",
    ),
  ).toBeUndefined();
  expect(documentKind(Buffer.from(entry("xl/workbook.xml")), "/download")).toBeUndefined();
});

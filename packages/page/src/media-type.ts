import { isUtf16 } from "./decode-text.ts";
import { type DocumentKind, documentKind } from "./document/document-kind.ts";

/** The kind of a body, as far as reading it goes. */
export type BodyKind =
  /** `isXml`: its elements are closed as in XML, so that `<p/>` is an empty one. */
  | { readonly kind: "html"; readonly isXml?: true }
  /** RSS, Atom, RDF or a JSON Feed. */
  | { readonly kind: "feed" }
  /** `fence`: the language of the code fence that helps to read it; none for prose. */
  | { readonly kind: "text"; readonly fence?: string | undefined }
  /** `what`: in words, with an article. `document`: its kind, if its text can be read. */
  | { readonly kind: "unreadable"; readonly what: string; readonly document?: DocumentKind };

const html: BodyKind = { kind: "html" };
const xhtml: BodyKind = { kind: "html", isXml: true };
const feed: BodyKind = { kind: "feed" };
const text = (fence?: string): BodyKind => ({ kind: "text", fence });
const unreadable = (what: string, document?: DocumentKind): BodyKind => ({
  kind: "unreadable",
  what,
  ...(document === undefined ? {} : { document }),
});

/** The media type of a `Content-Type` header, without parameters, in lower case. */
export const mediaTypeOf = (contentType: string | undefined): string =>
  (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** The kind of the body that the server names; undefined if it says nothing of use, and only the bytes can tell. */
export function kindByType(mediaType: string): BodyKind | undefined {
  const [, top = "", sub = ""] = /^([a-z0-9.+*-]+)\/([a-z0-9.+*_-]+)$/.exec(mediaType) ?? [];
  if (sub === "html") return html;
  if (sub === "xhtml+xml" || sub === "vnd.wap.xhtml+xml") return xhtml;
  if (/^(rss|atom|rdf)\+xml$|^feed\+json$/.test(sub)) return feed;
  if (sub === "json" || sub.endsWith("+json") || sub === "x-ndjson") return text("json");
  if (mediaType === "image/svg+xml") return unreadable("an image");
  if (sub === "xml" || sub.endsWith("+xml")) return text("xml");
  if (/^(x-)?(javascript|ecmascript|typescript)$/.test(sub)) return text("js");
  if (/^(x-)?(yaml|toml|csv|css|sh|python|diff)$/.test(sub)) return text(sub.replace("x-", ""));
  if (top === "text") return text();
  if (sub === "pdf" || sub === "x-pdf") return unreadable("a PDF document", "pdf");
  if (sub === "vnd.openxmlformats-officedocument.wordprocessingml.document")
    return unreadable("an office document", "docx");
  if (/^(x-)?(zip|gzip|tar|7z-compressed|rar|rar-compressed|bzip2|xz|zstd|compressed)$/.test(sub))
    return unreadable("an archive");
  if (/officedocument|msword|ms-excel|ms-powerpoint|opendocument|rtf|epub/.test(sub))
    return unreadable("an office document");
  if (top === "image") return unreadable("an image");
  if (top === "audio") return unreadable("a sound recording");
  if (top === "video") return unreadable("a video");
  if (top === "font") return unreadable("a font");
  return undefined;
}

/** What stands before the root of a feed may be long. */
const ROOT_BYTES = 4096;
/** A text whose zero byte comes later is one with a fault. */
const BINARY_BYTES = 1024;

/**
 * The kind of the body by its first bytes, where they contradict or replace the server's word.
 * @param contentType the `Content-Type` header: UTF-16 may be known by its `charset` alone
 */
export function kindByBytes(bytes: Uint8Array, declared: BodyKind | undefined, contentType?: string): BodyKind {
  const start = Buffer.from(bytes.subarray(0, ROOT_BYTES)).toString("latin1");
  const isPdf =
    PDF.test(start) ||
    (declared === undefined && documentKind(bytes, "") === "pdf" && Buffer.from(bytes).includes("startxref"));
  if (isPdf) return unreadable("a PDF document", "pdf");
  if (start.startsWith("PK\x03\x04") && declared?.kind === "unreadable" && declared.document === "docx")
    return declared;
  for (const [magic, what] of signatures) if (magic.test(start)) return unreadable(what);
  const isWide = isUtf16(bytes, contentType);
  const seen = isWide ? start.replaceAll(/[\0\xff\xfe]/g, "") : start.replace(/^\xef\xbb\xbf/, "");
  // The bytes that no text has. Browsers take what begins as a page for one all the same. @see
  // https://mimesniff.spec.whatwg.org/#binary-data-byte
  const isPage = (declared === undefined || declared.kind === "html") && PAGE.test(seen);
  if (!isWide && !isPage && binary.test(start.slice(0, BINARY_BYTES))) return unreadable("binary data");
  return declared === undefined || declared.kind !== "unreadable" ? kindByRoot(seen, declared) : declared;
}

/** What a text is by what it begins with. Servers give feeds any type of XML, and answers of APIs that of pages. */
function kindByRoot(head: string, declared: BodyKind | undefined): BodyKind {
  const isMarkup =
    declared === undefined || declared.kind === "html" || (declared.kind === "text" && declared.fence === "xml");
  const isJson =
    declared === undefined || declared.kind === "html" || (declared.kind === "text" && declared.fence === "json");
  if (isMarkup && FEED.test(head)) return feed;
  if (isJson && JSON_FEED.test(head)) return feed;
  if (declared?.kind === "html" && JSON_START.test(head)) return text("json");
  if (declared?.kind === "text" && declared.fence === "xml" && XHTML.test(head)) return xhtml;
  if (declared !== undefined) return declared;
  if (XHTML.test(head)) return /^\s*<\?xml/.test(head) ? xhtml : html;
  return HTML.test(head) ? html : text(/^\s*<\?xml\s/.test(head) ? "xml" : undefined);
}

/** A whole page, and no piece of one. */
const PAGE = /^\s*<(?:!doctype html|html|head|body)[\s>]/i;
const HTML = /^\s*<(!doctype html|html|head|body|title|meta|script|div|p|h1|table|!--)[\s>]?/i;
/** What may stand before the root element of XML. */
const PROLOG = String.raw`^(?:\s|<\?(?:(?!\?>)[\s\S])*\?>|<!--(?:(?!-->)[\s\S])*-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)*`;
const FEED = new RegExp(
  String.raw`${PROLOG}<(?:rss[\s>]|(?:\w+:)?feed\s[^>]*Atom|(?:\w+:)?RDF\s[^>]*(?:purl\.org/rss|netscape\.com/rdf/simple))`,
  "i",
);
const XHTML = new RegExp(
  String.raw`${PROLOG}<(?:[\w.-]+:)?html\s[^>]*xmlns(?::[\w.-]+)?\s*=\s*["']http://www\.w3\.org/1999/xhtml`,
  "i",
);
const JSON_START = /^\s*(?:\{\s*"|\[\s*[[{"\d])/;
const JSON_FEED = /^\s*\{[\s\S]*"version"\s*:\s*"https?:\\?\/\\?\/jsonfeed\.org/;

/** Readers take a document that begins a little later, too. */
const PDF = /^(?:\xef\xbb\xbf)?\s*%PDF-/;

const signatures: readonly (readonly [RegExp, string])[] = [
  [/^(PK\x03\x04|PK\x05\x06|\x1f\x8b|7z\xbc\xaf\x27\x1c|Rar!\x1a|BZh[1-9]|\xfd7zXZ|\x28\xb5\x2f\xfd)/, "an archive"],
  [
    /^(\x89PNG|GIF8[79]a|\xff\xd8\xff|RIFF.{4}WEBP|BM.{4}\x00\x00\x00\x00|II\*\x00|MM\x00\*|\x00\x00\x01\x00)/s,
    "an image",
  ],
  [/^(.{4}ftyp|\x1aE\xdf\xa3|RIFF.{4}AVI )/s, "a video"],
  [/^(ID3|OggS|fLaC|RIFF.{4}WAVE|\xff\xfb)/s, "a sound recording"],
  [/^(\x7fELF|MZ\x90|\x00asm|\xca\xfe\xba\xbe)/, "a program"],
  [/^\xd0\xcf\x11\xe0/, "an office document"],
  [/^(wOFF|wOF2|OTTO|\x00\x01\x00\x00)/, "a font"],
];

const binary = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

import { unmarkedUtf16 } from "./decode-text.ts";

/** The kind of a body, as far as reading it goes. */
export type BodyKind =
  | { readonly kind: "html" }
  /** `fence`: the language of the code fence that helps to read it; none for prose. */
  | { readonly kind: "text"; readonly fence?: string | undefined }
  | { readonly kind: "unreadable"; readonly what: string };

const html: BodyKind = { kind: "html" };
const text = (fence?: string): BodyKind => ({ kind: "text", fence });
const unreadable = (what: string): BodyKind => ({ kind: "unreadable", what });

/** The media type of a `Content-Type` header, without parameters, in lower case. */
export const mediaTypeOf = (contentType: string | undefined): string => (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** The kind of the body that the server names; undefined if it says nothing of use, and only the bytes can tell. */
export function kindByType(mediaType: string): BodyKind | undefined {
  const [, top = "", sub = ""] = /^([a-z0-9.+*-]+)\/([a-z0-9.+*_-]+)$/.exec(mediaType) ?? [];
  if (sub === "html" || sub === "xhtml+xml" || sub === "vnd.wap.xhtml+xml") return html;
  if (sub === "json" || sub.endsWith("+json") || sub === "x-ndjson") return text("json");
  if (mediaType === "image/svg+xml") return unreadable("an image");
  if (sub === "xml" || sub.endsWith("+xml")) return text("xml");
  if (/^(x-)?(javascript|ecmascript|typescript)$/.test(sub)) return text("js");
  if (/^(x-)?(yaml|toml|csv|css|sh|python|diff)$/.test(sub)) return text(sub.replace("x-", ""));
  if (top === "text") return text();
  if (sub === "pdf" || sub === "x-pdf") return unreadable("a PDF document");
  if (/^(x-)?(zip|gzip|tar|7z-compressed|rar|rar-compressed|bzip2|xz|zstd|compressed)$/.test(sub)) return unreadable("an archive");
  if (/officedocument|msword|ms-excel|ms-powerpoint|opendocument|rtf|epub/.test(sub)) return unreadable("an office document");
  if (top === "image") return unreadable("an image");
  if (top === "audio") return unreadable("a sound recording");
  if (top === "video") return unreadable("a video");
  if (top === "font") return unreadable("a font");
  return undefined;
}

/** The kind of the body by its first bytes, where they contradict or replace the server's word. */
export function kindByBytes(bytes: Uint8Array, declared: BodyKind | undefined): BodyKind {
  const head = bytes.subarray(0, 1024);
  const start = Buffer.from(head).toString("latin1");
  for (const [magic, what] of signatures) if (magic.test(start)) return unreadable(what);
  const isUtf16 = /^(\xff\xfe|\xfe\xff)/.test(start) || unmarkedUtf16(bytes) !== undefined;
  // The bytes that no text has. @see https://mimesniff.spec.whatwg.org/#binary-data-byte
  if (!isUtf16 && binary.test(start)) return unreadable("binary data");
  const seen = isUtf16 ? start.replaceAll(/[\0\xff\xfe]/g, "") : start;
  return declared ?? (/^(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|title|meta|script|div|p|h1|table|!--)[\s>]?/i.test(seen) ? html : text());
}

const signatures: readonly (readonly [RegExp, string])[] = [
  [/^%PDF-/, "a PDF document"],
  [/^(PK\x03\x04|PK\x05\x06|\x1f\x8b|7z\xbc\xaf\x27\x1c|Rar!\x1a|BZh[1-9]|\xfd7zXZ|\x28\xb5\x2f\xfd)/, "an archive"],
  [/^(\x89PNG|GIF8[79]a|\xff\xd8\xff|RIFF.{4}WEBP|BM.{4}\x00\x00\x00\x00|II\*\x00|MM\x00\*|\x00\x00\x01\x00)/s, "an image"],
  [/^(.{4}ftyp|\x1aE\xdf\xa3|RIFF.{4}AVI )/s, "a video"],
  [/^(ID3|OggS|fLaC|RIFF.{4}WAVE|\xff\xfb)/s, "a sound recording"],
  [/^(\x7fELF|MZ\x90|\x00asm|\xca\xfe\xba\xbe)/, "a program"],
  [/^\xd0\xcf\x11\xe0/, "an office document"],
  [/^(wOFF|wOF2|OTTO|\x00\x01\x00\x00)/, "a font"],
];

const binary = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

/**
 * The text of a body, in whatever encoding it is: by its byte order mark, the `charset` of its `Content-Type`, its own
 * declaration (a `meta` element or an XML declaration), else UTF-8 if it is valid UTF-8, else Windows-1252. A body that
 * says it is UTF-8 but is not is read by the next rule that applies. Bytes that stand for nothing become U+FFFD.
 */
export function decodeText(bytes: Uint8Array, contentType: string | undefined): string {
  const mark = byteOrderMark(bytes);
  if (mark !== undefined) return new TextDecoder(mark).decode(bytes);
  const declared = [charsetOf(contentType), declaredInside(bytes)].flatMap((label) => decoderFor(label) ?? []);
  for (const decoder of declared) {
    if (decoder.encoding !== "utf-8") return decoder.decode(bytes);
    const text = ifUtf8(bytes);
    if (text !== undefined) return text;
  }
  // A few broken bytes in what calls itself UTF-8 do not make it Windows-1252.
  return ifUtf8(bytes) ?? new TextDecoder(declared.length > 0 ? "utf-8" : "windows-1252").decode(bytes);
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return undefined;
}

const charsetOf = (text: string | undefined): string | undefined => /charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text ?? "")?.[1];

/** Looks at the first 4 KiB: the standard asks authors for the first 1024 bytes, and some come late. */
function declaredInside(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 4096)).toString("latin1");
  const label =
    /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head)?.[1] ?? charsetOf(/<meta\b[^>]{0,500}?charset\s*=[^>]{0,60}/i.exec(head)?.[0]);
  // Text whose declaration could be read byte by byte is not UTF-16. @see https://encoding.spec.whatwg.org, "prescan"
  return label !== undefined && /^utf-?16/i.test(label) ? "utf-8" : label;
}

function decoderFor(label: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // no such encoding
  }
}

function ifUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

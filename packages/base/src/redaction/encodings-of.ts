/**
 * The texts in which a secret can be met. It may stand as it is, encoded for a URL, or in base64 and base64url at each
 * of the three alignments. It may be escaped in JSON, also in JSON inside JSON, or in markdown. In base64 it lists the
 * characters that the secret alone decides: those at its borders depend on their neighbours.
 */
export function encodingsOf(secret: string): readonly string[] {
  const text = secret.toWellFormed(); // what is no Unicode cannot be encoded
  const base64 = [0, 1, 2].map((offset) => alignedBase64(text, offset));
  const url = [encodeURIComponent(text), encodeURI(text), strictUrl(text), formUrl(text), userInfo(text)];
  const json = jsonEscaped(text);
  const markdown = [/[\\`*_[\]<>|~#]/g, /[\\`*_[\]]/g].map((active) => text.replaceAll(active, "\\$&"));
  return [
    ...new Set([
      secret,
      text,
      ...base64,
      ...base64.map((it) => it.replaceAll("+", "-").replaceAll("/", "_")),
      ...url,
      ...url.map(lowerHex),
      json,
      jsonEscaped(json),
      ...markdown,
      ...markdown.map(jsonEscaped),
      unicodeEscaped(text),
      lowerHex(unicodeEscaped(text)),
    ]),
  ];
}

/** How many characters of base64 hold bits of what stands before, by the number of bytes modulo 3 that do. */
const SHARED_WITH_BEFORE = [0, 2, 3];
const BITS_OF_BASE64 = 6;

function alignedBase64(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  return bytes.toString("base64").slice(SHARED_WITH_BEFORE[offset], Math.floor((bytes.length * 8) / BITS_OF_BASE64));
}

/** As RFC 3986 reads strictly: encodeURIComponent leaves some reserved characters. */
const strictUrl = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);

const formUrl = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

function userInfo(text: string): string {
  const url = new URL("http://host/");
  url.password = text;
  return url.password;
}

const lowerHex = (text: string): string => text.replaceAll(/%[0-9A-F]{2}|\\u[0-9A-F]{4}/g, (it) => it.toLowerCase());

const jsonEscaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** As writers of JSON do that escape whatever could mean something in HTML, such as .NET's. */
const unicodeEscaped = (text: string): string =>
  text
    .replaceAll(/[^ -~]|["&'+<>`]/g, (it) => `\\u${it.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`)
    .replaceAll(/\\(?!u[0-9A-F]{4})/g, "\\\\");

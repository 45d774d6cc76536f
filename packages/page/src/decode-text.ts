import { analyse } from "chardet";
import { ResultType, Sniffer } from "encoding-sniffer/sniffer";

/**
 * The text of a body, in whatever encoding it is. Its byte order mark says so first, then the `charset` of its
 * `Content-Type`. Its own declaration comes next, in a `meta` element or an XML declaration, and its bytes come last.
 * Valid UTF-8 is UTF-8, and UTF-16 has every second byte of its marks zero. Else it is the encoding whose
 * letters are as frequent as in its languages, or Windows-1252. A body that says it is UTF-8 but is not is read by the
 * next rule that applies. JSON is UTF-8 whatever its `charset` (RFC 8259), unless its bytes are not. Its bytes decide
 * only where most of what is not ASCII is no UTF-8. Bytes that stand for nothing become U+FFFD.
 * @returns undefined if it says nothing of its encoding, and its bytes make no text in any
 */
export function decodeText(bytes: Uint8Array, contentType: string | undefined): string | undefined {
  const mark = byteOrderMark(bytes) ?? unmarkedUtf16(bytes);
  if (mark !== undefined) return new TextDecoder(mark).decode(bytes);
  const json = JSON_TYPE.test(contentType ?? "") ? ifUtf8(bytes) : undefined;
  if (json !== undefined) return json;
  const declared = [charsetOf(contentType), declaredInside(bytes)].flatMap((label) => decoderFor(label) ?? []);
  for (const decoder of declared) {
    if (decoder.encoding !== "utf-8") return decoder.decode(bytes);
    const text = ifUtf8(bytes);
    if (text !== undefined) return text;
  }
  const utf8 = ifUtf8(bytes);
  if (utf8 !== undefined) return isIso2022(utf8) ? new TextDecoder("iso-2022-jp").decode(bytes) : utf8;
  if (declared.length === 0) return guess(bytes);
  // A few broken bytes in a text that calls itself UTF-8 do not make it another encoding.
  const broken = new TextDecoder("utf-8").decode(bytes);
  return 2 * countOf(/\ufffd/g, broken) > countOf(/[^\0-\x7f]/gu, broken) ? (guess(bytes) ?? broken) : broken;
}

const JSON_TYPE = /^[^;]*[/+.-]json\b/i;

function byteOrderMark(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return undefined;
}

/** A page has enough ASCII for that: tags, spaces, line ends. Fewer may be words between zeros. */
const UTF16_SHARE = 0.35;
const UTF16_SIGNS = 4;

/** Tells whether a body is UTF-16, by its mark, the `charset` of its `Content-Type`, or its ASCII. */
export function isUtf16(bytes: Uint8Array, contentType: string | undefined): boolean {
  const encoding = byteOrderMark(bytes) ?? unmarkedUtf16(bytes) ?? decoderFor(charsetOf(contentType))?.encoding;
  return encoding?.startsWith("utf-16") === true;
}

/**
 * UTF-16 by its ASCII, whose other byte is zero, always on the same side. No other text has a zero byte. What begins
 * with a tag may have little more of it.
 */
function unmarkedUtf16(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const start = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  if (/^<\0[a-z!?]\0/i.test(start)) return "utf-16le";
  if (/^\0<\0[a-z!?]/i.test(start)) return "utf-16be";
  const head = bytes.subarray(0, 4096 & ~1);
  const pairs = Math.floor(head.length / 2);
  if (pairs < 2 || bytes.length % 2 !== 0) return undefined;
  const zeros = { first: 0, second: 0 };
  for (let i = 0; i + 1 < head.length; i += 2) {
    if (head[i] === 0 && isAsciiText(head[i + 1])) zeros.first++;
    else if (head[i + 1] === 0 && isAsciiText(head[i])) zeros.second++;
    else if (head[i] === 0 || head[i + 1] === 0) return undefined;
  }
  const enough = Math.max(UTF16_SIGNS, UTF16_SHARE * pairs);
  if (zeros.second >= enough && zeros.first === 0) return "utf-16le";
  return zeros.first >= enough && zeros.second === 0 ? "utf-16be" : undefined;
}

const isAsciiText = (byte: number | undefined): boolean =>
  byte !== undefined && ((byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09);

const charsetOf = (text: string | undefined): string | undefined =>
  /charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text ?? "")?.[1];

/** Looks at the first 4 KiB: the standard asks authors for the first 1024 bytes, and some come late. */
const PRESCAN_BYTES = 4096;

/**
 * Its XML declaration, or the `meta` that a browser takes: none in a comment, an attribute, or about something else.
 */
function declaredInside(bytes: Uint8Array): string | undefined {
  const head = bytes.subarray(0, PRESCAN_BYTES);
  const label = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(
    Buffer.from(head).toString("latin1"),
  )?.[1];
  // Text whose declaration could be read byte by byte is not UTF-16. @see https://encoding.spec.whatwg.org, "prescan"
  if (label !== undefined) return /^utf-?16/i.test(label) ? "utf-8" : label;
  const sniffer = new Sniffer({ maxBytes: PRESCAN_BYTES });
  sniffer.write(head);
  return sniffer.resultType === ResultType.META_TAG ? sniffer.encoding : undefined;
}

function decoderFor(label: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // no such encoding
  }
}

/** Japanese in seven bits, as mail has it: each change of the character set is announced. */
const isIso2022 = (text: string): boolean => /\x1b\$[@B]/.test(text) && /\x1b\([BJ]/.test(text);

function ifUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The sample of bytes beyond ASCII, with those between them: enough to tell, and soon done. */
const SAMPLE_BYTES = 16 * 1024;
/** Fewer bytes beyond ASCII than this tell nothing. */
const MIN_SIGNS = 6;
/** Guesses that are tried, the likeliest first. */
const MAX_GUESSES = 6;
/** A text of which more is lost is not in that encoding. */
const MAX_LOST = 0.02;
/**
 * In a text beyond ASCII this share is letters and what stands between words. In a wrong encoding there are frames,
 * signs and half-width kana instead.
 */
const MIN_WORDS = 0.85;

/**
 * In a language that is written in ASCII with a few letters more, this share of the runs beyond ASCII is single
 * letters.
 */
const ALONE_SHARE = 0.5;
/** Letters that are small before a large one, as in no word. */
const MAX_JUMBLED = 0.1;
/** Encodings of which a sign has two bytes or more. */
const inPairs = /^(?:shift_jis|gb|big5|euc)/;
/**
 * What pages in a language had before UTF-8. Where its bytes leave that open, the language that the page says it is in
 * decides.
 */
const encodingsOf: Readonly<Record<string, readonly string[]>> = {
  ...{
    ja: ["shift_jis", "euc-jp"],
    zh: ["gb18030", "big5"],
    ko: ["euc-kr"],
    ru: ["windows-1251", "koi8-r"],
    uk: ["windows-1251"],
    bg: ["windows-1251"],
  },
  ...{
    tr: ["windows-1254"],
    el: ["windows-1253"],
    he: ["windows-1255"],
    ar: ["windows-1256"],
    th: ["windows-874"],
    vi: ["windows-1258"],
  },
  ...{
    pl: ["iso-8859-2", "windows-1250"],
    cs: ["windows-1250"],
    hu: ["iso-8859-2"],
    lt: ["windows-1257"],
    lv: ["windows-1257"],
    et: ["windows-1257"],
  },
};

/** As the page's root says it; the first two letters. */
const languageOf = (bytes: Uint8Array): string =>
  /<html\b[^>]{0,300}?\blang\s*=\s*["']?([a-z]{2})\b/i
    .exec(Buffer.from(bytes.subarray(0, 4096)).toString("latin1"))?.[1]
    ?.toLowerCase() ?? "";

/**
 * Guesses the encoding by how often which bytes follow each other. Where that says nothing it is Windows-1252, in which
 * every text of western Europe was.
 */
function guess(bytes: Uint8Array): string | undefined {
  const sample = signsIn(bytes);
  const likely = sample.signs < MIN_SIGNS ? [] : analyse(sample.bytes).slice(0, MAX_GUESSES);
  for (const label of [...(encodingsOf[languageOf(bytes)] ?? []), ...likely.map(({ name }) => name)]) {
    const decoder = decoderFor(label);
    if (
      decoder === undefined ||
      decoder.encoding.startsWith("utf-16") ||
      (sample.areAlone && inPairs.test(decoder.encoding))
    )
      continue;
    const seen = decoder.decode(sample.bytes);
    const signs = countOf(/[^\0-\x7f]/gu, seen);
    const words = countOf(/[[\p{L}\p{M}\p{P}\u00a0\u3000]--[\0-\x7f\uff61-\uff9f]]/gv, seen);
    const isJumbled = countOf(/\p{Ll}\p{Lu}/gu, seen) > MAX_JUMBLED * signs;
    if (!isJumbled && words >= MIN_WORDS * signs && lostIn(seen) <= MAX_LOST * signs) return decoder.decode(bytes);
  }
  const western = new TextDecoder("windows-1252").decode(bytes);
  return lostIn(western) <= MAX_LOST * sample.signs ? western : undefined;
}

const countOf = (pattern: RegExp, text: string): number => text.match(pattern)?.length ?? 0;
const lostIn = (text: string): number => countOf(/[\ufffd\u0080-\u009f]/g, text);

/**
 * The runs of bytes beyond ASCII with what is around them, without the tags: a page is mostly ASCII, which tells
 * nothing.
 */
function signsIn(bytes: Uint8Array): {
  readonly bytes: Uint8Array;
  readonly signs: number;
  readonly areAlone: boolean;
} {
  const sample: number[] = [];
  let signs = 0;
  let alone = 0;
  let runs = 0;
  let isTag = false;
  for (let i = 0; i < bytes.length && sample.length < SAMPLE_BYTES; i++) {
    const byte = bytes[i] as number;
    const isSign = byte >= 0x80;
    if (isSign) signs++;
    if (isSign && !isSignBefore(bytes, i)) {
      runs++;
      if (![i + 1, i + 2, i - 2].some((near) => (bytes[near] ?? 0) >= 0x80)) alone++;
    }
    // A tag's marks may be the second byte of a sign in some encodings.
    if (byte === 0x3c && !isSignBefore(bytes, i)) isTag = true;
    if (isSign || (!isTag && (isSignBefore(bytes, i) || byte === 0x20))) sample.push(byte);
    if (byte === 0x3e && !isSignBefore(bytes, i)) isTag = false;
  }
  return { bytes: Uint8Array.from(sample), signs, areAlone: alone > ALONE_SHARE * runs };
}

const isSignBefore = (bytes: Uint8Array, i: number): boolean => (bytes[i - 1] ?? 0) >= 0x80;

import { fence } from "./fence.ts";
import { visibleText } from "./visible-text.ts";

/** A file as it came in a message. */
export interface GivenFile {
  /** Empty if the sender gives none. */
  readonly name: string;
  /** The sender's claim; empty without one. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** What no base64 has, of either alphabet, in lines or in one. */
const NO_BASE64 = /[^A-Za-z0-9+/_\s=-]|=[^=\s]/;

/** The bytes that base64 says; undefined of a text that is none, of which Node would read a part. */
export function base64Bytes(text: string): Uint8Array | undefined {
  const isCut = text.replaceAll(/[\s=]/g, "").length % 4 === 1;
  return isCut || NO_BASE64.test(text) ? undefined : Buffer.from(text, "base64");
}

/** Types that are no text, whatever their bytes are. */
const NO_TEXT = /^(?:image(?!\/svg)|audio|video|font)\/|^application\/(?:pdf|zip|gzip|octet-stream$)/i;
/** Languages of fences, as the end of a media type names them. */
const LANGUAGE = /(?:^|[/+.-])(json|xml|yaml|csv|html|markdown|javascript|typescript|python|sql|css)(?:;|$)/i;

/**
 * A text file in words: what it is, and its text between the marks of a code block. Undefined of a file that is no
 * UTF-8 text.
 */
export function fileText({ name, mediaType, bytes }: GivenFile): string | undefined {
  const text = NO_TEXT.test(mediaType) ? undefined : ifText(bytes);
  if (text === undefined) return undefined;
  const type = mediaType.slice(0, 100);
  const called = [...(name === "" ? [] : [JSON.stringify(name.slice(0, 200))]), ...(type === "" ? [] : [`(${type})`])];
  const head = visibleText(["The file", ...called].join(" "));
  // Marks that hidden characters part are longer without these, so the block is made of what is left.
  return `${head}:\n${fence(visibleText(text), LANGUAGE.exec(mediaType)?.[1]?.toLowerCase())}`;
}

function ifText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

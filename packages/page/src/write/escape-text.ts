import { visibleText } from "@rockbot/contracts";

/** Controls of which there are none in pages: an encoder's mistake for the signs that Windows has in their places, as references to them mean. */
const MISTAKEN = /[\u0080-\u009f]/g;
const meant = new TextDecoder("windows-1252");

/** A page's text as it was meant. */
export function readableText(text: string): string {
  return text.search(MISTAKEN) < 0 ? text : text.replaceAll(MISTAKEN, (sign) => meant.decode(Uint8Array.of(sign.charCodeAt(0))));
}

/** A page's text as markdown that reads as this text. What looks like a tag or an entity is text, too; so is what would be one once signs between its letters are gone. */
export function escapeText(text: string): string {
  const visible = visibleText(readableText(text));
  const escaped = visible
    .replaceAll(/[\\*`[\]_]/g, "\\$&")
    .replace(/^(?:-|\+ |=+|#{1,6} |~~~|>)/, "\\$&")
    .replace(/^(\d+)\. /, "$1\\. ");
  return escapeTags(escaped.includes("&") ? escaped.replaceAll(/&(?=#?\w{1,32};)/gi, "\\&") : escaped);
}

/** The text of the next element may make a tag of the last sign. In a bare address a backslash is part of the address. */
function escapeTags(text: string): string {
  if (!text.includes("<")) return text;
  return text.replaceAll(/\S+/g, (word, at: number) => {
    if (!word.includes("<")) return word;
    const tag = at + word.length === text.length ? /<(?=[a-z/!?]|$)/gi : /<(?=[a-z/!?])/gi;
    return word.replaceAll(tag, /:\/\/|www\./.test(word) ? "&lt;" : "\\<");
  });
}

import type { BodyKind } from "./media-type.ts";

/** A block that is longer than this, in characters, or than half of the text, is cut within. */
const FAR = 200_000;

const blockEnd =
  /<\/(?:p|div|li|ul|ol|dl|tr|table|section|article|main|blockquote|pre|figure|h[1-6])\s*>|<(?:br|hr)\b[^<>]*>/gi;

/**
 * The beginning of a body, without the block at its end of which only a part has come. A feed is closed after its last
 * item.
 */
export function cutAtBlock(text: string, kind: BodyKind): string {
  if (kind.kind === "feed") {
    const root = /<(rss|feed|rdf:RDF)[\s>]/.exec(text)?.[1];
    const end = Math.max(endOf(text, "</item>"), endOf(text, "</entry>"));
    if (root !== undefined && end > 0) return `${text.slice(0, end)}${root === "rss" ? "</channel>" : ""}</${root}>`;
  }
  const from = text.length - Math.min(FAR, text.length / 2);
  if (kind.kind === "html") {
    const last = [...text.slice(from).matchAll(blockEnd)].at(-1);
    if (last !== undefined) return text.slice(0, from + last.index + last[0].length);
  }
  for (const border of ["\n\n", "\n", ...(kind.kind === "html" ? [">"] : []), " "]) {
    const at = text.lastIndexOf(border);
    if (at > from) return text.slice(0, at + (border === ">" ? 1 : 0));
  }
  return text;
}

const endOf = (text: string, tag: string): number => {
  const at = text.lastIndexOf(tag);
  return at === -1 ? -1 : at + tag.length;
};

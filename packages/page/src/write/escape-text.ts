import { cleanText } from "../tree/clean-texts.ts";
import { type AnyNode, isElement, isText } from "../tree/dom.ts";
import { blockNames } from "../tree/element-names.ts";
import { isBlank } from "./text-edges.ts";

/**
 * A page's text as markdown that reads as this text. A tag or an entity that it spells is text, too; so is one that it
 * spells once signs between its letters are gone.
 * @param goesOn whether a bare address stands right before it, and goes on with its first word
 * @param isInLine whether something stands before it on its line, so that it begins no heading, item or quote
 */
export function escapeText(
  text: string,
  { goesOn = false, isInLine = false }: { readonly goesOn?: boolean; readonly isInLine?: boolean } = {},
): string {
  const marked = cleanText(text).replaceAll(/[\\*`[\]_]|~(?=~)|(?<=[^\s/])~/g, "\\$&");
  const escaped = isInLine
    ? marked.replace(/^~/, "\\~")
    : marked
        .replace(/^(?:-(?=[ -]|$)|\+(?= |$)|=+|#{1,6}(?= |$)|>)/, "\\$&")
        .replace(/^(\d{1,9})([.)])(?= |$)/, "$1\\$2");
  return escapeTags(escaped.includes("&") ? escaped.replaceAll(/&(?=#?\w{1,32};)/gi, "\\&") : escaped, goesOn);
}

/**
 * Tells whether something certainly stands before a node on its line. All that stands in a cell is within its row's
 * line.
 */
export function isInLine(node: AnyNode): boolean {
  let at = node;
  while (at.prev === null) {
    const { parent } = at;
    if (parent === null || !isElement(parent)) return false;
    if (isBlock(parent)) return isInRow(at);
    at = parent;
  }
  let before: AnyNode = at.prev;
  while (isElement(before)) {
    if (isBlock(before)) return isInRow(before);
    const last: AnyNode | undefined = before.children.at(-1);
    if (last === undefined) return before.name === "img";
    before = last;
  }
  return isText(before) && before.data.trim() !== "";
}

function isInRow(node: AnyNode): boolean {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (isElement(at) && (at.name === "td" || at.name === "th"))
      return at.parent !== null && isElement(at.parent) && at.parent.name === "tr";
  }
  return false;
}

/** Tells whether a link begins right behind a node: after an exclamation mark it would be a picture. */
export function isBeforeLink(node: AnyNode): boolean {
  let at: AnyNode = node;
  while (at.next === null) {
    const { parent } = at;
    if (parent === null || !isElement(parent) || isBlock(parent)) return false;
    at = parent;
  }
  for (let next: AnyNode | null | undefined = at.next; next != null && isElement(next); [next] = next.children)
    if (next.name === "a") return true;
  return false;
}

/**
 * Text of which no reader makes a tag. The text of the next element may make a tag of the last sign. In a bare address
 * a backslash is part of the address.
 */
export function escapeTags(text: string, goesOn = false): string {
  if (!text.includes("<")) return text;
  return text.replaceAll(/\S+/g, (word, at: number) => {
    if (!word.includes("<")) return word;
    const tag = at + word.length === text.length ? /<(?=[a-z/!?]|$)/gi : /<(?=[a-z/!?])/gi;
    return word.replaceAll(tag, BARE_ADDRESS.test(word) || (at === 0 && goesOn) ? "&lt;" : "\\<");
  });
}

const BARE_ADDRESS = /:\/\/|www\./i;
/** A word of more parts, or of more characters, is taken for an address. */
const MAX_PARTS = 200;
const MAX_WORD = 2_000;

/**
 * Tells whether a bare address stands right before a node of a line: readers of markdown would take the node for its
 * rest. Code is parted from it by a space.
 */
export function isInAddress(node: AnyNode): boolean {
  let word = "";
  let parts = 0;
  for (const before of nodesBefore(node)) {
    if (++parts > MAX_PARTS || word.length > MAX_WORD) return true;
    if (isElement(before)) {
      if (isBlock(before) || (before.name === "code" && !isBlank(before))) break;
      if (before.name === "a" || before.name === "img") return true; // what it leads to may be read as one
    } else if (isText(before)) {
      const last = lastWordOf(before.data);
      word = last + word;
      if (last.length < before.data.length) break;
    }
  }
  return word.length > MAX_WORD || BARE_ADDRESS.test(word);
}

/**
 * What stands before a node on its line, from behind, and each element before what it holds. It goes on to what stands
 * before that line.
 */
export function* nodesBefore(node: AnyNode, isEnd: (node: AnyNode) => boolean = isBlock): Generator<AnyNode> {
  for (let at: AnyNode | null = node; at !== null && !isEnd(at); at = at.parent) {
    for (let before = at.prev; before !== null; before = before.prev) {
      const open: AnyNode[] = [before];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        yield next;
        if (isElement(next)) for (const child of next.children) open.push(child);
      }
    }
  }
}

/** What follows the last white space, or its end. From the end: a pattern would try each beginning. */
function lastWordOf(text: string): string {
  let start = text.length;
  while (start > 0 && text.length - start <= MAX_WORD && text.charAt(start - 1).trim() !== "") start--;
  return text.slice(start);
}

/** Tells whether an element ends the line before it. */
export const isBlock = (node: AnyNode): boolean =>
  isElement(node) &&
  (node.name === "br" || node.name === "note-text" || blockNames.has(node.name) || "data-block" in node.attribs);

/**
 * Markdown that stands in a link: some readers take escaped brackets in it for brackets, and then what follows must not
 * begin an address.
 */
export const inLink = (markdown: string): string => markdown.replaceAll("\\](", "\\]\\(");

import type { CheerioAPI } from "cheerio/slim";
import { type Element, elementsBelow, type ParentNode, textOf } from "./dom.ts";

/** How much of the page's text an element must hold to stand for the whole of it. */
const ENOUGH = 0.4;

/**
 * The element that holds the page's content: what the page marks as such, if it holds enough of the text, else the
 * body.
 */
export function pickRoot($: CheerioAPI): ParentNode {
  const document = $.root()[0] as ParentNode;
  const elements = elementsBelow(document);
  const body = elements.find(({ name }) => name === "body") ?? document;
  const enough = ENOUGH * lengthOf(body);
  for (const [marker, role] of [
    ["main", "main"],
    ["article", "article"],
  ]) {
    const marked = elements.filter(({ name, attribs }) => name === marker || attribs["role"] === role);
    const [only] = marked as [Element];
    // Several articles are a list of them, of which none is the page.
    if (marked.length === 1 && lengthOf(only) >= enough) return only;
  }
  return body;
}

/** Without white space, which is mostly indentation. */
const lengthOf = (node: ParentNode): number => textOf(node).replaceAll(/\s+/g, "").length;

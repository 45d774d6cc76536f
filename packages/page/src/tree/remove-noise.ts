import type { CheerioAPI } from "cheerio/slim";
import {
  type AnyNode,
  type Element,
  isElement,
  isParent,
  isText,
  type ParentNode,
  setChildren,
  textOf,
} from "./dom.ts";
import { keepChildren } from "./keep-children.ts";
import { playedName } from "./table-roles.ts";

/** Elements that are never content, wherever they stand. */
const noiseNames: ReadonlySet<string> = new Set([
  ...[
    "script",
    "style",
    "template",
    "svg",
    "iframe",
    "object",
    "embed",
    "canvas",
    "video",
    "audio",
    "link",
    "meta",
    "head",
    "title",
  ],
  ...["input", "button", "select", "textarea", "datalist", "progress", "meter"],
]);
/** Elements beside the content, where there is any. */
const asideNames: ReadonlySet<string> = new Set(["nav", "aside", "footer"]);
const asideRoles: ReadonlySet<string> = new Set([
  "navigation",
  "banner",
  "contentinfo",
  "search",
  "menu",
  "dialog",
  "alertdialog",
  "tooltip",
]);

/**
 * What is kept from screen readers only: shorter than this it is an icon or a repetition, longer it may be what a
 * banner covers.
 */
const DECORATION = 100;

/**
 * Removes what a reader of the page's content would not miss: navigation, controls, decoration, and elements that hold
 * nothing. One pass down and one up, each linear in the size of the page.
 * @param keepAsides whether what is usually beside the content stays, such as navigation, headers and dialogs @default
 * false
 */
export function removeNoise($: CheerioAPI, { keepAsides = false }: { readonly keepAsides?: boolean } = {}): void {
  const root = $.root()[0] as ParentNode;
  const parents: ParentNode[] = [root];
  const inContent = new Set<ParentNode>();
  for (const parent of parents) {
    const isContent =
      inContent.has(parent) ||
      (isElement(parent) && (parent.name === "main" || parent.name === "article" || parent.attribs["role"] === "main"));
    const isKept = (child: AnyNode): boolean =>
      isText(child) || (isElement(child) && !isNoise(child) && (keepAsides || !isAside(child, isContent)));
    if (!parent.children.every(isKept)) keepChildren(parent, (child) => (isKept(child) ? child : undefined));
    for (const child of parent.children) {
      if (!isParent(child)) continue;
      parents.push(child);
      if (isContent) inContent.add(child);
    }
  }
  readNoscript(root, parents);
  for (const parent of parents.reverse()) removeBlank(parent);
}

function isNoise({ name, attribs }: Element): boolean {
  return noiseNames.has(name) || editLink.test(attribs["class"] ?? "");
}

/** The sign beside a heading of a wiki that opens its editor. */
const editLink = /\bmw-editsection\b(?!-)/;

/** Notes of the text, as Docutils writes them. */
const notes = /(?:^|\s)(?:doc-(?:footnote|endnotes?)|footnotes?(?:-list)?)(?:\s|$)/;

function isAside(element: Element, isContent: boolean): boolean {
  const { name, attribs } = element;
  if (name === "aside" && notes.test(`${attribs["role"]} ${attribs["class"]}`)) return false;
  if (asideNames.has(name) || asideRoles.has(attribs["role"] ?? "")) return true;
  // The header of an article holds its title; the header of the page holds the site's.
  if (name === "header" && !isContent) return true;
  return attribs["aria-hidden"] === "true" && textOf(element).length < DECORATION;
}

/**
 * What a page shows to readers without scripts counts if it is most of what there is, as in forums that scripts draw;
 * else it only asks to turn scripts on.
 */
function readNoscript(root: ParentNode, parents: readonly ParentNode[]): void {
  const fallbacks = parents.filter((parent) => isElement(parent) && parent.name === "noscript") as Element[];
  if (fallbacks.length === 0) return;
  const length = fallbacks.reduce((sum, fallback) => sum + textOf(fallback).length, 0);
  const isMost = length > textOf(root).length - length;
  for (const fallback of fallbacks) {
    if (isMost) fallback.name = "div";
    else setChildren(fallback, []);
  }
}

/** Elements that mean something without content. */
const meaningfulWhenBlank: ReadonlySet<string> = new Set([
  ...["br", "hr", "img", "td", "th", "tr", "pre", "code", "base", "html", "body", "dt"],
  ...["mi", "mrow", "none", "mprescripts", "mspace"], // parts of a formula are known by their places
]);
const inline: ReadonlySet<string> = new Set([
  "a",
  "abbr",
  "b",
  "cite",
  "em",
  "font",
  "i",
  "label",
  "small",
  "span",
  "strong",
  "sub",
  "sup",
  "u",
]);

/**
 * Drops the children that hold nothing; white space in an inline one still parts words. Called for the deepest first.
 */
function removeBlank(parent: ParentNode): void {
  const isBlank = (child: AnyNode): child is Element =>
    isElement(child) && !meaningfulWhenBlank.has(playedName(child)) && child.children.every(isSpace);
  if (!parent.children.some(isBlank)) return;
  keepChildren(parent, (child) => {
    if (!isBlank(child)) return child;
    return inline.has(child.name) ? child.children[0] : undefined;
  });
}

const isSpace = (node: AnyNode): boolean => isText(node) && node.data.trim() === "";

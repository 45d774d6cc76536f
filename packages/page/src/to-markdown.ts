import { visibleText } from "@rockbot/contracts";
import { type CheerioAPI, load } from "cheerio/slim";
import { createTurndown } from "./create-turndown.ts";
import { PageTooComplexError } from "./page-too-complex-error.ts";
import { boundTree } from "./tree/bound-tree.ts";
import { type AnyNode, elementsBelow, isElement, type ParentNode, setChildren, textOf } from "./tree/dom.ts";
import { flattenTables } from "./tree/flatten-tables.ts";
import { markCode } from "./tree/mark-code.ts";
import { numberItems } from "./tree/number-items.ts";
import { pickRoot } from "./tree/pick-root.ts";
import { removeHidden } from "./tree/remove-hidden.ts";
import { removeNoise } from "./tree/remove-noise.ts";
import { baseOf, resolveLinks } from "./tree/resolve-links.ts";

/** A page as markdown. */
export interface MarkdownPage {
  readonly title: string | null;
  readonly markdown: string;
}

/** The bound of what a page becomes. */
export interface ToMarkdownOptions {
  /** The longest markdown, in UTF-16 code units. @default 10_000_000 */
  readonly maxLength?: number | undefined;
}

const turndown = createTurndown();

/**
 * The readable content of an HTML page as GitHub-flavoured markdown. Images are left out, except that one's alternative
 * text stands for it where it is all there is of a link.
 * @param url where the page came from; its links are resolved against it
 * @throws {PageTooComplexError} if the page has too many nodes, or becomes too long
 */
export function toMarkdown(html: string, url: string, { maxLength = 10_000_000 }: ToMarkdownOptions = {}): MarkdownPage {
  let read = prepare(html, url, maxLength, {});
  if (read.length < LITTLE) {
    const all = prepare(html, url, maxLength, { keepAsides: true });
    if (all.length > MUCH_MORE * read.length) read = all;
  }
  // A style that hides the whole page hides it until its scripts run, not from people.
  if (read.length === 0) read = prepare(html, url, maxLength, { keepAsides: true, withSheets: false });
  const { title, prepared } = read;
  return { title: title === null ? null : visibleText(title), markdown: bounded(visibleText(turndown.turndown(prepared)).trim(), maxLength) };
}

/** A page of so few characters may have its text where others have their navigation. */
const LITTLE = 100;
const MUCH_MORE = 2;

interface Reading {
  readonly keepAsides?: boolean;
  readonly withSheets?: boolean;
}

interface Prepared {
  readonly title: string | null;
  readonly prepared: string;
  /** Of the text, without white space. */
  readonly length: number;
}

/** The page as HTML again, of which turndown makes a tree of its own. A function of its own, so that the first tree is garbage by then. */
function prepare(html: string, url: string, maxLength: number, { keepAsides = false, withSheets = true }: Reading): Prepared {
  const $ = load(withFrame(html));
  boundTree($);
  const document = $.root()[0] as ParentNode;
  const title = titleOf(document);
  const base = baseOf(document, url);
  openShadowRoots(document);
  removeHidden($, { withSheets });
  removeNoise($, { keepAsides });
  const root = pickRoot($);
  resolveLinks(root, base, { maxLength });
  dropImages($, root);
  markCode($, root);
  flattenTables($, root);
  numberItems(root);
  dropAttributes(root);
  return { title, prepared: bounded($.html(root.children), maxLength), length: textOf(root).replaceAll(/\s+/g, "").length };
}

/** What browsers put around a page that leaves it out, and what its sheets may speak of. */
function withFrame(html: string): string {
  const found = new Set(elementsBelow(load(html).root()[0] as ParentNode, "html", "body").map(({ name }) => name));
  return `${found.has("html") ? "" : "<html>"}${found.has("body") ? "" : "<body>"}${html}`;
}

/** What a browser shows in the place of an element's children, which it shows in slots only, and takes for a template only where it is an old one. */
function openShadowRoots(document: ParentNode): void {
  for (const template of elementsBelow(document, "template")) {
    const { parent } = template;
    if (!("shadowrootmode" in template.attribs) || parent === null) continue;
    template.name = "div";
    const slots = new Set(elementsBelow(template, "slot").map(({ attribs }) => attribs["name"] ?? ""));
    const isShown = (child: AnyNode): boolean => child === template || slots.has(isElement(child) ? (child.attribs["slot"] ?? "") : "");
    setChildren(parent, parent.children.filter(isShown));
  }
}

function bounded(text: string, maxLength: number): string {
  if (text.length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
  return text;
}

function titleOf(document: ParentNode): string | null {
  const [element] = elementsBelow(document, "title");
  const text = element === undefined ? "" : textOf(element);
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line === "" ? null : line.slice(0, 500);
}

function dropImages($: CheerioAPI, root: ParentNode): void {
  for (const link of elementsBelow(root, "a")) {
    const alt = elementsBelow(link, "img").find(({ attribs }) => attribs["alt"])?.attribs["alt"] ?? "";
    if (alt !== "" && textOf(link).trim() === "") $(link).append($("<span></span>").text(alt));
  }
  for (const parent of [root, ...elementsBelow(root)]) {
    const kept = parent.children.filter((child) => !(isElement(child) && (child.name === "img" || child.name === "picture")));
    if (kept.length < parent.children.length) setChildren(parent, kept);
  }
}

/** Leaves the attributes that the converter reads: its own tree is slow where an element has many. */
function dropAttributes(root: ParentNode): void {
  for (const element of elementsBelow(root)) {
    element.attribs = Object.fromEntries(Object.entries(element.attribs).filter(([name]) => readAttributes.has(name)));
  }
}

const readAttributes: ReadonlySet<string> = new Set(["href", "class", "data-marker", "data-columns"]);

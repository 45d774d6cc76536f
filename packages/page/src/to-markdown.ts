import { visibleText } from "@rockbot/contracts";
import type { CheerioAPI } from "cheerio/slim";
import { readContent } from "./content/read-content.ts";
import { createTurndown } from "./create-turndown.ts";
import { PageTooComplexError } from "./page-too-complex-error.ts";
import { elementsBelow, isElement, type ParentNode, setChildren, textOf } from "./tree/dom.ts";
import { flattenTables } from "./tree/flatten-tables.ts";
import { markCode } from "./tree/mark-code.ts";
import { numberItems } from "./tree/number-items.ts";
import { resolveLinks } from "./tree/resolve-links.ts";

/** A page as markdown. */
export interface MarkdownPage {
  readonly title: string | null;
  readonly markdown: string;
  /** The page is drawn by its scripts, so that this is what it holds without them. */
  readonly needsBrowser?: true;
}

/** The bound of what a page becomes, and how much of it. */
export interface ToMarkdownOptions {
  /** The longest markdown, in UTF-16 code units. @default 10_000_000 */
  readonly maxLength?: number | undefined;
  /** Whether all is kept that people see, as of a letter or a document, and not the content only. @default false */
  readonly isWhole?: boolean | undefined;
}

const turndown = createTurndown();

/**
 * The readable content of an HTML page as GitHub-flavoured markdown. Which blocks of the page are its content is learnt; of a page that has text there is always some.
 * Images are left out, except that one's alternative text stands for it where it is all there is of a link.
 * @param url where the page came from; its links are resolved against it
 * @throws {PageTooComplexError} if the page has too many nodes, or becomes too long
 */
export function toMarkdown(html: string, url: string, { maxLength = 10_000_000, isWhole = false }: ToMarkdownOptions = {}): MarkdownPage {
  const { title, prepared } = prepare(html, url, { maxLength, isWhole });
  return { title: title === null ? null : visibleText(title), markdown: bounded(visibleText(turndown.turndown(prepared)).trim(), maxLength) };
}

interface Prepared {
  readonly title: string | null;
  readonly prepared: string;
}

/** The page as HTML again, of which turndown makes a tree of its own. A function of its own, so that the first tree is garbage by then. */
function prepare(html: string, url: string, { maxLength, isWhole }: { readonly maxLength: number; readonly isWhole: boolean }): Prepared {
  const { $, facts, base, root } = readContent(html, url, isWhole);
  resolveLinks(root, base, { maxLength });
  dropImages($, root);
  markCode($, root);
  flattenTables($, root);
  numberItems(root);
  dropAttributes(root);
  return { title: facts.title, prepared: bounded($.html(root.children), maxLength) };
}

function bounded(text: string, maxLength: number): string {
  if (text.length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters once it is converted`);
  return text;
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

import type { CheerioAPI } from "cheerio/slim";
import { findHidden, type HiddenOptions, removeHidden } from "../hidden/remove-hidden.ts";
import { type AnyNode, isElement, isParent, isText, type ParentNode, textOf } from "../tree/dom.ts";
import { keepChildren } from "../tree/keep-children.ts";
import { pickRoot } from "../tree/pick-root.ts";
import { removeNoise } from "../tree/remove-noise.ts";
import { baseOf } from "../tree/resolve-links.ts";
import { findContent } from "./cut-page.ts";
import { linkName } from "./name-cards.ts";
import type { PageFacts } from "./page-facts.ts";
import { type ReadPage, readPage } from "./read-page.ts";

/** A page of which the content is left. */
export interface PageContent {
  readonly $: CheerioAPI;
  readonly document: ParentNode;
  readonly facts: PageFacts;
  /** What its links are relative to. */
  readonly base: URL | undefined;
  /** What holds the content. */
  readonly root: ParentNode;
}

/** A page of so few characters may have its text where others have their navigation. */
const LITTLE = 100;
const MUCH_MORE = 2;

/**
 * Parses a page, and leaves what is its content and people see. Which blocks are the content is learnt; on small pages
 * rules say it.
 * @param url where the page came from
 * @param isWhole whether all is left that people see
 * @throws {PageTooComplexError} if the page has too many nodes or styles
 */
export function readContent(html: string, url: string, isWhole: boolean): PageContent {
  const page = readPage(html);
  const base = baseOf(page.document, url);
  const content = isWhole ? undefined : findContent(page);
  if (content !== undefined) {
    // Sheets are tried on what is left only: most of a page's elements are beside its content. They see the whole page,
    // for their selectors speak of all of it.
    const hidden = findHidden(page.$, { among: content.nodes });
    const isDrawnLater = hidesMost(page.document, content.nodes, hidden);
    keepOnly(page.document, content.nodes, isDrawnLater ? new Set() : hidden);
    for (const name of content.names) linkName(name);
    // A page that is cut to nothing, or hidden until its scripts run, is read by rules instead.
    if (lengthOf(page.document) > 0) {
      removeNoise(page.$, { keepAsides: true });
      return { ...page, base, root: page.document };
    }
    return { ...readByRules(readPage(html), html, false), base };
  }
  return { ...readByRules(page, html, isWhole), base };
}

type Ruled = Omit<PageContent, "base">;

function readByRules(page: ReadPage, html: string, isWhole: boolean): Ruled {
  let read = readBy(page, { keepAsides: isWhole });
  if (lengthOf(read.root) < LITTLE && !isWhole) {
    const all = readBy(readPage(html), { keepAsides: true });
    if (lengthOf(all.root) > MUCH_MORE * lengthOf(read.root)) read = all;
  }
  // A style that hides the whole page hides it until its scripts run, not from people.
  if (lengthOf(read.root) === 0) read = readBy(readPage(html), { keepAsides: true, withSheets: false });
  // So does a page that shows nothing until a script opens its dialog.
  if (lengthOf(read.root) === 0)
    read = readBy(readPage(html), { keepAsides: true, withSheets: false, withDialogs: false });
  return read;
}

function readBy(
  page: ReadPage,
  { keepAsides, ...hidden }: Pick<HiddenOptions, "withSheets" | "withDialogs"> & { readonly keepAsides: boolean },
): Ruled {
  removeHidden(page.$, hidden);
  removeNoise(page.$, { keepAsides });
  return { ...page, root: keepAsides ? page.document : pickRoot(page.$) };
}

function keepOnly(document: ParentNode, content: ReadonlySet<AnyNode>, hidden: ReadonlySet<AnyNode>): void {
  const open: ParentNode[] = [document];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const isKept = (child: AnyNode): boolean => content.has(child) && !hidden.has(child);
    if (!parent.children.every(isKept))
      keepChildren(
        parent,
        (child) => (isKept(child) ? child : undefined),
        (child) => !hidden.has(child),
      );
    for (const child of parent.children) {
      if (!isParent(child)) continue;
      // A button that is content is the heading of what it opens.
      if (isElement(child) && child.name === "button") child.name = "div";
      open.push(child);
    }
  }
}

/** A sheet that hides so much of a page that is no small one hides it until its scripts run. */
const MOST = 0.6;
const MUCH = 1_000;
const MANY_PARTS = 10;

/**
 * Tells whether sheets hide most of the content: its headings, and its paragraphs by the dozen. A text that is hidden
 * from people alone is less than what they read.
 */
function hidesMost(document: ParentNode, content: ReadonlySet<AnyNode>, hidden: ReadonlySet<AnyNode>): boolean {
  let all = 0;
  let unseen = 0;
  let parts = 0;
  let headings = 0;
  const open: (readonly [AnyNode, { readonly isHidden: boolean; readonly isHeading: boolean }])[] = [];
  for (const child of document.children) open.push([child, { isHidden: false, isHeading: false }]);
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const [node, around] = entry;
    if (!content.has(node)) continue;
    // Where a style that texts inherit hides the page, each text is hidden, and no element.
    const isHidden = around.isHidden || hidden.has(node);
    if (isText(node)) {
      const length = node.data.trim().length;
      all += length;
      if (!isHidden) continue;
      unseen += length;
      if (length > 20) parts++;
      if (around.isHeading && length > 0) headings++;
    } else if (isParent(node)) {
      const isHeading = around.isHeading || (isElement(node) && /^h[1-3]$/.test(node.name));
      for (const child of node.children) open.push([child, { isHidden, isHeading }]);
    }
  }
  return headings > 0 && parts >= MANY_PARTS && unseen >= MUCH && unseen > MOST * all;
}

/** Without white space, which is mostly indentation. */
const lengthOf = (root: ParentNode): number => textOf(root).replaceAll(/\s+/g, "").length;

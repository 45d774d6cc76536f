import type { CheerioAPI } from "cheerio/slim";
import { findHidden } from "../hidden/remove-hidden.ts";
import { ampPictures, drawPicture } from "../tree/amp-pictures.ts";
import { boundTree } from "../tree/bound-tree.ts";
import {
  type AnyNode,
  type Element,
  type NamedElements,
  namedElements,
  type ParentNode,
  setChildren,
  textOf,
} from "../tree/dom.ts";
import { markMath } from "../tree/mark-math.ts";
import { markTask } from "../tree/mark-task.ts";
import { parsePage } from "../tree/parse-page.ts";
import { openShadowRoots } from "../tree/shadow-roots.ts";
import { type PageFacts, readFacts } from "./page-facts.ts";
import { describeBlocks, type RatedPage } from "./rate-blocks.ts";

/** A page as a tree, and what is known of it before anything is cut. */
export interface ReadPage {
  readonly $: CheerioAPI;
  readonly document: ParentNode;
  readonly facts: PageFacts;
  /** What is never content: scripts, controls, and what attributes hide. */
  readonly unseen: ReadonlySet<AnyNode>;
}

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
  ...["input", "select", "textarea", "datalist", "progress", "meter"],
]);

/** @throws {PageTooComplexError} if the page has too many nodes or styles */
export function readPage(html: string): ReadPage {
  const $ = parsePage(html);
  boundTree($);
  const document = $.root()[0] as ParentNode;
  const named = namedElements(document);
  const facts = readFacts(named);
  openShadowRoots(named("template"));
  placeStreamed(named);
  markMath(document, named);
  for (const box of named("input")) markTask(box);
  for (const name of ampPictures) for (const picture of named(name)) drawPicture(picture);
  const unseen = findHidden($, { withSheets: false });
  for (const name of noiseNames) for (const element of named(name)) if (element.name === name) unseen.add(element);
  skipNoscript(document, named("noscript"), unseen);
  return { $, document, facts, unseen };
}

/** The page's blocks with what is known of each. */
export const describePage = ({ document, facts, unseen }: ReadPage): RatedPage =>
  describeBlocks(document, facts, unseen);

/**
 * Puts what a server sent later, in hidden boxes at the page's end, in the places that the page keeps for it, as the
 * page's first script would.
 * @see React's streaming renderer: a box `S:n` belongs to the template `B:n` or `P:n`
 */
function placeStreamed(named: NamedElements): void {
  const places = new Map(named("template").map((template) => [template.attribs["id"] ?? "", template]));
  if (places.size === 0) return;
  const moves = new Map<AnyNode, Element>();
  for (const box of named("div")) {
    const [, number] = /^S:([\da-f]+)$/.exec(box.attribs["id"] ?? "") ?? [];
    if (number === undefined || !("hidden" in box.attribs)) continue;
    const place = places.get(`B:${number}`) ?? places.get(`P:${number}`);
    if (place !== undefined && box.parent !== null) moves.set(box, place);
  }
  // All boxes mostly have one parent: its children are gone through once.
  for (const parent of new Set([...moves.keys()].flatMap((box) => box.parent ?? []))) {
    setChildren(
      parent,
      parent.children.filter((child) => !moves.has(child)),
    );
  }
  for (const [box, place] of moves) {
    place.name = "div";
    place.attribs = {};
    setChildren(place, (box as Element).children);
  }
}

/**
 * What a page shows to readers without scripts counts if it is most of what there is, as in forums that scripts draw;
 * else it only asks to turn scripts on.
 */
function skipNoscript(document: ParentNode, fallbacks: readonly Element[], unseen: Set<AnyNode>): void {
  if (fallbacks.length === 0) return;
  const length = fallbacks.reduce((sum, fallback) => sum + seenLength(fallback, unseen), 0);
  const isMost = length > seenLength(document, unseen) - length;
  for (const fallback of fallbacks) {
    if (isMost) fallback.name = "div";
    else unseen.add(fallback);
  }
}

function seenLength(root: ParentNode, unseen: ReadonlySet<AnyNode>): number {
  let length = 0;
  for (const child of root.children) {
    if (unseen.has(child)) continue;
    length += "children" in child ? seenLength(child, unseen) : textOf(child).length;
  }
  return length;
}

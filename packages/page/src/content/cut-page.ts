import { type AnyNode, type Element, isElement, isParent } from "../tree/dom.ts";
import { readForest } from "./forest.ts";
import { keepBlocks } from "./keep-blocks.ts";
import { keepSmall } from "./keep-small.ts";
import { linksOfNames, type NamedLink } from "./name-cards.ts";
import type { PageView } from "./page-view.ts";
import type { Pictures } from "./read-blocks.ts";
import { describePage, type ReadPage } from "./read-page.ts";
import { contentModel } from "./trained/content-model.ts";

/** On a page of fewer words nothing learnt says what is beside the content. */
const FEW_WORDS = 60;

let share: ((row: Float32Array) => number) | undefined;

/** What of a page is its content. */
export interface FoundContent {
  /** The nodes that hold it, with what lies around them and in them. */
  readonly nodes: ReadonlySet<AnyNode>;
  readonly names: readonly NamedLink[];
}

/**
 * Finds the content of a page: which blocks are kept is learnt, see docs/design/web-pages.md.
 * Undefined for a page that is too small for that, or has too many blocks.
 */
export function findContent(page: ReadPage): FoundContent | undefined {
  const { view, rows } = describePage(page);
  if (view.words < FEW_WORDS || rows.length === 0) return undefined;
  share ??= readForest(contentModel);
  const kept = keepSmall(view, keepBlocks(view, rows.map(share)));
  const found = new Set<AnyNode>();
  view.blocks.forEach(({ nodes }, i) => {
    if (kept[i] === true) for (const node of nodes) addWhole(node, page.unseen, found);
  });
  const isBetween = betweenKept(view, kept);
  for (const pictures of view.pictures)
    if (isBetween(pictures)) for (const node of pictures.nodes) addWhole(node, page.unseen, found);
  return { nodes: found, names: linksOfNames(view.blocks, kept) };
}

/**
 * Tells whether a picture stands between kept blocks, and so belongs to them. What a figure says of its picture may be
 * cut, and the picture stays.
 */
function betweenKept({ zones }: PageView, kept: readonly boolean[]): (pictures: Pictures) => boolean {
  const figures = new Map(
    zones
      .filter(({ element }) => isElement(element) && isFigure(element))
      .map((zone) => [zone.element as AnyNode, zone]),
  );
  return ({ before, nodes }) => {
    let first = before;
    let end = before;
    for (let node: AnyNode | null = nodes[0] ?? null; node !== null; node = node.parent) {
      ({ first, end } = figures.get(node) ?? { first, end });
      if (isElement(node) && cards.has(node.name)) [first, end] = [before, before]; // its picture stands for another page
    }
    return (kept[before - 1] === true && kept[before] === true) || (kept[first - 1] === true && kept[end] === true);
  };
}

const cards: ReadonlySet<string> = new Set(["a", "li", "td"]);
const isFigure = ({ name, attribs }: Element): boolean =>
  name === "figure" || /(?:^|\s)(?:wp-caption|figure)(?:\s|$)/.test(attribs["class"] ?? "");

function addWhole(node: AnyNode, unseen: ReadonlySet<AnyNode>, found: Set<AnyNode>): void {
  addBelow(node, unseen, found);
  for (let { parent } = node; parent !== null && !found.has(parent); parent = parent.parent) found.add(parent);
}

function addBelow(node: AnyNode, unseen: ReadonlySet<AnyNode>, found: Set<AnyNode>): void {
  if (unseen.has(node)) return;
  found.add(node);
  if (isParent(node)) for (const child of node.children) addBelow(child, unseen, found);
}

import { type AnyNode, isParent } from "../tree/dom.ts";
import { readForest } from "./forest.ts";
import { contentModel } from "./generated/content-model.ts";
import { keepBlocks } from "./keep-blocks.ts";
import { linksOfNames, type NamedLink } from "./name-cards.ts";
import { describePage, type ReadPage } from "./read-page.ts";

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
  const kept = keepBlocks(view, rows.map(share));
  const found = new Set<AnyNode>();
  view.blocks.forEach(({ nodes }, i) => {
    if (kept[i] === true) for (const node of nodes) addWhole(node, page.unseen, found);
  });
  // A picture between what is kept belongs to it.
  for (const { before, nodes } of view.pictures) {
    if (kept[before - 1] === true && kept[before] === true) for (const node of nodes) addWhole(node, page.unseen, found);
  }
  return { nodes: found, names: linksOfNames(view.blocks, kept) };
}

function addWhole(node: AnyNode, unseen: ReadonlySet<AnyNode>, found: Set<AnyNode>): void {
  addBelow(node, unseen, found);
  for (let { parent } = node; parent !== null && !found.has(parent); parent = parent.parent) found.add(parent);
}

function addBelow(node: AnyNode, unseen: ReadonlySet<AnyNode>, found: Set<AnyNode>): void {
  if (unseen.has(node)) return;
  found.add(node);
  if (isParent(node)) for (const child of node.children) addBelow(child, unseen, found);
}

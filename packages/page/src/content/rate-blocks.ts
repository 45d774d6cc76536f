import type { AnyNode, ParentNode } from "../tree/dom.ts";
import { blockFeatures, pageFeatures, placeBlocks } from "./features.ts";
import type { PageFacts } from "./page-facts.ts";
import { type PageView, viewPage } from "./page-view.ts";
import { groupAlike, readBlocks } from "./read-blocks.ts";

/** A page's blocks, with what is known of each as numbers. */
export interface RatedPage {
  readonly view: PageView;
  /** A row for each block: its own features, then the page's. None if there are more than MAX_BLOCKS. */
  readonly rows: readonly Float32Array[];
}

/** Real pages stay below 10 000. A row costs 50 microseconds of the processor, and a kilobyte. */
const MAX_BLOCKS = 20_000;

/** The names of a row's columns. */
export const columnNames: readonly string[] = [...blockFeatures, ...pageFeatures].map(({ name }) => name);

/** @param root the page, bounded in depth @param unseen nodes that are passed by */
export function describeBlocks(root: ParentNode, facts: PageFacts, unseen: ReadonlySet<AnyNode>): RatedPage {
  const page = readBlocks(root, unseen);
  groupAlike(page.zones);
  const view = viewPage(page, facts);
  if (view.blocks.length > MAX_BLOCKS) return { view, rows: [] };
  const shared = pageFeatures.map(({ of }) => of(view));
  const rows = placeBlocks(view).map((block) => {
    const row = new Float32Array(columnNames.length);
    for (let i = 0; i < blockFeatures.length; i++) row[i] = blockFeatures[i]?.of(block, view) ?? 0;
    row.set(shared, blockFeatures.length);
    return row;
  });
  return { view, rows };
}

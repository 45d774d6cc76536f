// For those who train the cut of pages.

export { type Forest, packForest, readForest, type TreeNode } from "./forest.ts";
export { keepBlocks } from "./keep-blocks.ts";
export type { PageView } from "./page-view.ts";
export { columnNames } from "./rate-blocks.ts";
export { describePage, type ReadPage, readPage } from "./read-page.ts";

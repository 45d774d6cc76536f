// For those who train the cut of pages.

export { chooseBlocks } from "./choose-blocks.ts";
export { type Forest, packForest, readForest, type TreeNode } from "./forest.ts";
export { columnNames } from "./rate-blocks.ts";
export { describePage, type ReadPage, readPage } from "./read-page.ts";

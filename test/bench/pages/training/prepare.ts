import { describePage, type PageView, readPage } from "@rockbot/page/content";
import type { MeasuredPage } from "../read-set.ts";
import { wordsOf } from "../words.ts";
import { labelBlocks } from "./label-blocks.ts";

/** A page as what is learnt from, one entry a block. */
export interface TrainingPage {
  readonly page: MeasuredPage;
  readonly rows: readonly Float32Array[];
  readonly blocks: readonly (readonly string[])[];
  readonly labels: readonly number[];
  readonly weights: readonly number[];
  readonly view: PageView;
  readonly truth: readonly string[];
}

/** Undefined for a page without text, or whose truth has none: nothing is learnt from it. */
export function prepare(page: MeasuredPage): TrainingPage | undefined {
  const truth = wordsOf(page.truth.mainContent);
  const read = readPage(page.html);
  const { view, rows } = describePage(read);
  if (truth.length === 0 || rows.length === 0) return undefined;
  const blocks = view.blocks.map(({ nodes }) => wordsOf(nodes.map((node) => textWithin(node, read.unseen)).join("")));
  const total = blocks.reduce((sum, words) => sum + words.length, 0);
  // Each page counts the same, whatever its length: so does its F1.
  const scale = 1 / Math.max(50, truth.length + 0.15 * total);
  return {
    ...{ page, view, rows, blocks, truth },
    labels: labelBlocks(blocks, truth),
    weights: blocks.map((words) => (words.length + 1) * scale),
  };
}

type Node = ReturnType<typeof readPage>["document"]["children"][number];

function textWithin(node: Node, unseen: ReadonlySet<unknown>): string {
  if (unseen.has(node)) return "";
  if ("children" in node) {
    const inner = node.children.map((child) => textWithin(child, unseen)).join("");
    return "name" in node && parting.has(node.name) ? ` ${inner} ` : inner;
  }
  return node.type === "text" ? node.data : "";
}

const parting: ReadonlySet<string> = new Set(["br", "td", "th"]);

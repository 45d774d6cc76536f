import { Element } from "domhandler";
import { type AnyNode, ancestorsOf, elementsBelow, isElement, setChildren } from "../tree/dom.ts";
import type { Block } from "./read-blocks.ts";

/** A text that is not linked where it stands, and the link that says the same beside it. */
export interface NamedLink {
  readonly nodes: readonly AnyNode[];
  readonly href: string;
}

/** The parts of a card lie so near, in blocks. */
const NEAR = 20;
/** A shorter text is said of many things. */
const LEAST_WORDS = 2;

/** Where a card has its name twice, keeps the heading rather than what repeats it. */
export function preferHeadings(blocks: readonly Block[], kept: readonly boolean[]): boolean[] {
  const chosen = [...kept];
  for (const block of blocks) {
    const { index, zone, text } = block;
    if (chosen[index] === true || !isHeading(zone.name) || text.words < LEAST_WORDS) continue;
    const twin = nearest(
      blocks,
      block,
      (other) => chosen[other.index] === true && !isHeading(other.zone.name) && leadsAway(other),
    );
    if (twin !== undefined) [chosen[index], chosen[twin.index]] = [true, false];
  }
  return chosen;
}

/**
 * What of the kept blocks has a link beside it that says the same: many sites lay a link over a card, and write its
 * name again below.
 */
export function linksOfNames(blocks: readonly Block[], kept: readonly boolean[]): NamedLink[] {
  return blocks.flatMap((block) => {
    if (kept[block.index] !== true || block.text.linkWords > 0 || block.text.words < LEAST_WORDS) return [];
    const twin = nearest(blocks, block, leadsAway);
    return twin === undefined ? [] : [{ nodes: block.nodes, href: hrefOf(twin) }];
  });
}

/** Puts the link around what is left of a text. */
export function linkName({ nodes, href }: NamedLink): void {
  const parent = nodes[0]?.parent;
  if (parent === null || parent === undefined) return;
  const named = new Set(nodes);
  const own = parent.children.filter((child) => named.has(child));
  const [first] = own;
  if (first === undefined) return;
  const link = new Element("a", { href }, []);
  const others = parent.children.flatMap((child) => (child === first ? [link] : named.has(child) ? [] : [child]));
  setChildren(link, own);
  setChildren(parent, others);
}

const isHeading = (name: string): boolean => /^h[1-6]$/.test(name);

function nearest(
  blocks: readonly Block[],
  { index, text: { text } }: Block,
  isWanted: (block: Block) => boolean,
): Block | undefined {
  for (let step = 1; step <= NEAR; step++) {
    const found = [blocks[index - step], blocks[index + step]].find(
      (block) => block !== undefined && block.text.text === text && isWanted(block),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Tells whether a block is one link to another page: an entry of a table of contents repeats a heading, too. */
const leadsAway = (block: Block): boolean =>
  block.text.linkWords === block.text.words && block.text.links === 1 && /^[^#]+$/.test(hrefOf(block));

function hrefOf({ nodes, zone }: Block): string {
  const inside = nodes.filter(isElement).flatMap((node) => (node.name === "a" ? [node] : elementsBelow(node, "a")));
  const around = isElement(zone.element)
    ? [zone.element, ...ancestorsOf(zone.element)].filter(({ name }) => name === "a")
    : [];
  return [...inside, ...around][0]?.attribs["href"] ?? "";
}

import { isElement } from "../tree/dom.ts";
import type { Block, Zone } from "./read-blocks.ts";

/** So many blocks in places that look alike are judged together. */
const SOME = 5;
/** How many elements from a block up have to look alike. */
const STEPS = 6;
/** The standard deviation up to which they are judged alike: beyond it, more than their pattern tells them apart. */
const NEAR = 0.2;
/** How much the others count, against a block's own share. */
const TOGETHER = 0.8;

/**
 * Draws the shares of blocks that a page makes by one pattern together: the paragraphs of a text, or the names on all
 * cards of a list. What is learnt of one block is often wrong, and of many such seldom.
 */
export function evenShares(blocks: readonly Block[], shares: readonly number[]): number[] {
  const groups = new Map<string, number[]>();
  blocks.forEach(({ zone }, i) => {
    const pattern = patternOf(zone);
    const group = groups.get(pattern);
    if (group === undefined) groups.set(pattern, [i]);
    else group.push(i);
  });
  const even = [...shares];
  for (const group of groups.values()) {
    if (group.length < SOME) continue;
    const mean = meanOf(group, blocks, (i) => shares[i] ?? 0);
    if (Math.sqrt(meanOf(group, blocks, (i) => ((shares[i] ?? 0) - mean) ** 2)) > NEAR) continue;
    for (const i of group) even[i] = TOGETHER * mean + (1 - TOGETHER) * (shares[i] ?? 0);
  }
  return even;
}

/** The names and classes of the elements around, without numbers, and how deep the last of them lies. */
function patternOf(zone: Zone): string {
  let pattern = "";
  let at: Zone | undefined = zone;
  for (let steps = 0; at?.parent !== undefined && steps < STEPS; steps++, at = at.parent) {
    const words = isElement(at.element) ? (at.element.attribs["class"] ?? "") : "";
    pattern += `${at.name}.${words.slice(0, 100).replaceAll(/\d+/g, "0")}>`;
  }
  return `${pattern}${at?.depth ?? 0}`;
}

/** The mean of a group, weighted by words. */
function meanOf(group: readonly number[], blocks: readonly Block[], of: (i: number) => number): number {
  let sum = 0;
  let words = 0;
  for (const i of group) {
    const count = (blocks[i]?.text.words ?? 0) + 1;
    sum += count * of(i);
    words += count;
  }
  return sum / words;
}

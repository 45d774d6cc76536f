import type { Alike, Block } from "./read-blocks.ts";

/** So many blocks side by side that look alike are judged together, if they are judged alike. */
const SOME = 10;
/** So many are judged together in any case: what tells them apart is their place only. */
const MANY = 20;
/** The standard deviation up to which shares are alike. */
const NEAR = 0.25;

/** Gives blocks that stand side by side and look alike, such as the paragraphs of a text or the items of a list, the share that they have together. */
export function evenShares(blocks: readonly Block[], shares: readonly number[]): number[] {
  const groups = new Map<Alike, number[]>();
  blocks.forEach(({ zone }, i) => {
    if (zone.alike === undefined || zone.alike.zones.length < SOME) return;
    const group = groups.get(zone.alike);
    if (group === undefined) groups.set(zone.alike, [i]);
    else group.push(i);
  });
  const even = [...shares];
  for (const group of groups.values()) {
    if (group.length < SOME) continue;
    const mean = meanOf(group, blocks, (i) => shares[i] ?? 0);
    const variance = meanOf(group, blocks, (i) => ((shares[i] ?? 0) - mean) ** 2);
    if (group.length >= MANY || Math.sqrt(variance) <= NEAR) for (const i of group) even[i] = mean;
  }
  return even;
}

/** By words. */
function meanOf(group: readonly number[], blocks: readonly Block[], of: (i: number) => number): number {
  let sum = 0;
  let words = 0;
  for (const i of group) {
    const count = (blocks[i]?.text.words ?? 0) + 0.01;
    sum += count * of(i);
    words += count;
  }
  return sum / words;
}

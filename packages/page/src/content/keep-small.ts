import { isElement } from "../tree/dom.ts";
import { groupNames } from "./class-groups.ts";
import { type PageView, sumIn } from "./page-view.ts";
import type { Block, Zone } from "./read-blocks.ts";
import { isBeside, proseShare } from "./weigh-places.ts";

/** In a container of fewer words, only navigation and the like is cut: the forest knows few such pages. */
const FEW_WORDS = 400;
/** How much of the page's prose the container holds, and of the container's words are prose: products have little. */
const MOST = 0.5;

/** What sites call other parts that are no text of theirs. */
const likeGroups: readonly number[] = [
  ...["navigation", "footer", "side", "overlay", "contents", "filter", "control", "caption"],
].map((name) => groupNames.indexOf(name));

/** Keeps all of a small page's one `main` or `article` but what it calls navigation, an aside, a teaser or the like. */
export function keepSmall(view: PageView, kept: readonly boolean[]): readonly boolean[] {
  const container = containerOf(view);
  if (container === undefined) return kept;
  return kept.map((isKept, i) => {
    if (isKept || i < container.first || i >= container.end) return isKept;
    const { text, zone: own } = view.blocks[i] as Block;
    if (text.linkWords > 0.5 * text.words) return false;
    for (let zone: Zone | undefined = own; zone !== undefined && zone !== container; zone = zone.parent)
      if (isBeside(zone) || likeGroups.some((group) => zone?.groups[group] === 0)) return false;
    return true;
  });
}

function containerOf(view: PageView): Zone | undefined {
  for (const marker of ["main", "article"]) {
    const [container, ...others] = view.zones.filter(
      ({ name, element }) => name === marker || (isElement(element) && element.attribs["role"] === marker),
    );
    if (container === undefined || others.length > 0 || proseShare(view, container) < MOST) continue;
    const words = sumIn(view.sums.words, container.first, container.end);
    if (words < FEW_WORDS && sumIn(view.sums.prose, container.first, container.end) >= MOST * words) return container;
  }
  return undefined;
}

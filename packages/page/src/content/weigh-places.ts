import { isElement } from "../tree/dom.ts";
import { groupNames } from "./class-groups.ts";
import { type PageView, sumIn } from "./page-view.ts";
import type { Zone } from "./read-blocks.ts";

/**
 * What the share of a block counts in parts that are content on few pages, for all that its words look like content.
 */
const BESIDE = 0.3;
const ASIDE = 0.6;
const BEYOND_MAIN = 0.5;
const CALLED_BESIDE = 0.65;
/** How much of the prose the `main` element has to hold, to say what is beyond it. */
const MOST = 0.5;

/** A part that holds so much of the prose is not beside anything, whatever its name. */
const MUCH = 0.8;

const besideRoles: ReadonlySet<string> = new Set(["navigation", "contentinfo", "banner", "menu", "menubar", "search"]);
const asideRoles: ReadonlySet<string> = new Set(["complementary", "dialog"]);

/** What sites call such parts: teasers, forms to subscribe, advertisements and legal notes. */
const besideGroups: readonly number[] = ["related", "letter", "promotion", "legal"].map((name) =>
  groupNames.indexOf(name),
);
const promotion = groupNames.indexOf("promotion");
/**
 * Where more than half of what looks like content stands in parts called alike, the name tells nothing apart.
 * Advertisements stay what they are.
 */
const HALF = 0.5;

/**
 * Lowers the shares of blocks in menus, footers, asides and dialogs, in parts that a site calls beside its content, and
 * beyond the one `main` element: what is learnt of few sites does not weigh these enough.
 */
export function weighPlaces(view: PageView, shares: readonly number[]): number[] {
  const { blocks, zones } = view;
  const weights = new Map<Zone, number>();
  const named = besideGroups.map((group) => ({ group, zones: new Set<Zone>() }));
  // A zone stands before those that it holds.
  for (const zone of zones) {
    const { parent } = zone;
    const around = parent === undefined ? 1 : (weights.get(parent) ?? 1);
    const isMost = proseShare(view, zone) >= MUCH;
    weights.set(zone, isMost ? around : (ownWeight(zone) ?? around));
    for (const { group, zones: within } of named)
      if ((parent !== undefined && within.has(parent)) || (!isMost && zone.groups[group] === 0)) within.add(zone);
  }
  const telling = named.filter(
    ({ group, zones: within }) => group === promotion || contentShare(view, shares, within) <= HALF,
  );
  const main = mainOf(view);
  return shares.map((share, i) => {
    const zone = blocks[i]?.zone as Zone;
    const isBeyond = main !== undefined && (i < main.first || i >= main.end);
    return (
      share *
      (weights.get(zone) ?? 1) *
      (telling.some(({ zones: within }) => within.has(zone)) ? CALLED_BESIDE : 1) *
      (isBeyond ? BEYOND_MAIN : 1)
    );
  });
}

/** Tells whether a part is navigation, an aside, or what sites call beside their content. */
export const isBeside = (zone: Zone): boolean =>
  (ownWeight(zone) ?? 1) < 1 || besideGroups.some((group) => zone.groups[group] === 0);

/** Undefined where it is the same as around. */
function ownWeight({ element, name, parent }: Zone): number | undefined {
  const role = isElement(element) ? (element.attribs["role"] ?? "") : "";
  if (name === "nav" || name === "footer" || besideRoles.has(role) || (name === "header" && parent?.name === "body"))
    return BESIDE;
  if (name === "aside" || name === "dialog" || asideRoles.has(role)) return ASIDE;
  return name === "main" || name === "article" ? 1 : undefined;
}

/** How much of what looks like content, by words, stands in such zones. */
function contentShare({ blocks }: PageView, shares: readonly number[], zones: ReadonlySet<Zone>): number {
  let all = 0;
  let inside = 0;
  blocks.forEach(({ text, zone }, i) => {
    if ((shares[i] ?? 0) < HALF) return;
    all += text.words;
    if (zones.has(zone)) inside += text.words;
  });
  return all === 0 ? 0 : inside / all;
}

function mainOf(view: PageView): Zone | undefined {
  const mains = view.zones.filter(
    ({ name, element }) => name === "main" || (isElement(element) && element.attribs["role"] === "main"),
  );
  const [main] = mains;
  return main !== undefined && mains.length === 1 && proseShare(view, main) >= MOST ? main : undefined;
}

/** How much of the page's prose a part holds. */
export function proseShare({ sums, blocks }: PageView, { first, end }: Zone): number {
  const all = sums.prose[blocks.length] ?? 0;
  return all === 0 ? 0 : sumIn(sums.prose, first, end) / all;
}

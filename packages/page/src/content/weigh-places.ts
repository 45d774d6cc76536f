import { isElement } from "../tree/dom.ts";
import { type PageView, sumIn } from "./page-view.ts";
import type { Zone } from "./read-blocks.ts";

/** What the share of a block counts in parts that are content on few pages, for all that its words look like content. */
const BESIDE = 0.3;
const ASIDE = 0.6;
const BEYOND_MAIN = 0.5;
/** How much of the prose the `main` element has to hold, to say what is beyond it. */
const MOST = 0.5;

/** A part that holds so much of the prose is not beside anything, whatever its name. */
const MUCH = 0.8;

const besideRoles: ReadonlySet<string> = new Set(["navigation", "contentinfo", "banner", "menu", "menubar", "search"]);
const asideRoles: ReadonlySet<string> = new Set(["complementary", "dialog"]);

/** Lowers the shares of blocks in menus, footers, asides and dialogs, and beyond the one `main` element: what is learnt of few sites does not weigh these enough. */
export function weighPlaces(view: PageView, shares: readonly number[]): number[] {
  const { blocks, zones } = view;
  const weights = new Map<Zone, number>();
  // A zone stands before those that it holds.
  for (const zone of zones) {
    const around = zone.parent === undefined ? 1 : (weights.get(zone.parent) ?? 1);
    weights.set(zone, proseShare(view, zone) >= MUCH ? around : (ownWeight(zone) ?? around));
  }
  const main = mainOf(view);
  return shares.map((share, i) => {
    const weight = weights.get(blocks[i]?.zone as Zone) ?? 1;
    const isBeyond = main !== undefined && (i < main.first || i >= main.end);
    return share * weight * (isBeyond ? BEYOND_MAIN : 1);
  });
}

/** Undefined where it is the same as around. */
function ownWeight({ element, name, parent }: Zone): number | undefined {
  const role = isElement(element) ? (element.attribs["role"] ?? "") : "";
  if (name === "nav" || name === "footer" || besideRoles.has(role) || (name === "header" && parent?.name === "body")) return BESIDE;
  if (name === "aside" || name === "dialog" || asideRoles.has(role)) return ASIDE;
  return name === "main" || name === "article" ? 1 : undefined;
}

function mainOf(view: PageView): Zone | undefined {
  const mains = view.zones.filter(({ name, element }) => name === "main" || (isElement(element) && element.attribs["role"] === "main"));
  const [main] = mains;
  return main !== undefined && mains.length === 1 && proseShare(view, main) >= MOST ? main : undefined;
}

function proseShare({ sums, blocks }: PageView, { first, end }: Zone): number {
  const all = sums.prose[blocks.length] ?? 0;
  return all === 0 ? 0 : sumIn(sums.prose, first, end) / all;
}

import type { PageView } from "./page-view.ts";
import type { Zone } from "./read-blocks.ts";

/** What is kept of a page by the words of each block. */
export interface ChosenBlocks {
  readonly shares: readonly number[];
  /** The least share that was enough. */
  readonly limit: number;
  readonly chosen: readonly boolean[];
}

/** The least share of content, by words, that such a part has: in parts of the limit. */
const leastShares: ReadonlyMap<string, number> = new Map([
  ["pre", 0.2],
  ["table", 0.4],
  ["ul", 0.3],
  ["ol", 0.3],
  ["dl", 0.3],
]);

/**
 * Keeps code and tables beside what is kept, tables of which a part is, and lists between what is kept. A reader takes
 * such a part as a whole: a row or an item that is missing misleads. What is learnt of their words says little, for
 * they have few sentences.
 */
export function keepWhole({ blocks, zones }: PageView, { shares, limit, chosen }: ChosenBlocks): boolean[] {
  const kept = [...chosen];
  const layouts = tablesAround(zones);
  // Innermost first: what lies around a part may be kept by then.
  for (const zone of zones.toReversed()) {
    const least = leastShares.get(zone.name);
    if (least === undefined || layouts.has(zone) || !isDrawnIn(zone, kept)) continue;
    if (meanShare(zone) >= least * limit) kept.fill(true, zone.first, zone.end);
  }
  return kept;

  function meanShare({ first, end }: Zone): number {
    let sum = 0;
    let words = 0;
    for (let i = first; i < end; i++) {
      const count = (blocks[i]?.text.words ?? 0) + 1;
      sum += count * (shares[i] ?? 0);
      words += count;
    }
    return sum / words;
  }
}

/** Tells whether a part is kept because something around or in it is kept. */
function isDrawnIn({ name, first, end }: Zone, kept: readonly boolean[]): boolean {
  if (first === end) return false;
  const before = kept[first - 1] === true;
  const after = kept[end] === true;
  if (name === "pre") return before || after;
  return name === "table" ? before || after || kept.slice(first, end).includes(true) : before && after;
}

/** The tables that hold others only lay out. */
function tablesAround(zones: readonly Zone[]): ReadonlySet<Zone> {
  const around = new Set<Zone>();
  for (const zone of zones) {
    if (zone.name !== "table") continue;
    for (let at = zone.parent; at !== undefined && !around.has(at); at = at.parent)
      if (at.name === "table") around.add(at);
  }
  return around;
}

import { chooseBlocks } from "./choose-blocks.ts";
import { evenShares } from "./even-shares.ts";
import { keepNotes } from "./keep-notes.ts";
import { keepWhole } from "./keep-whole.ts";
import { preferHeadings } from "./name-cards.ts";
import { type PageView, sumIn } from "./page-view.ts";
import type { Block } from "./read-blocks.ts";
import { weighPlaces } from "./weigh-places.ts";

/** Which blocks of a page are kept, from the share of content that the forest gives for each. */
export function keepBlocks(view: PageView, shares: readonly number[]): boolean[] {
  const weighed = weighPlaces(view, evenShares(view.blocks, shares));
  const chosen = chooseBlocks(
    weighed,
    view.blocks.map(({ text }) => text.words),
  );
  const limit = weighed.reduce((least, share, i) => (chosen[i] === true ? Math.min(least, share) : least), 1);
  const introduced = keepHeadings(view.blocks, keepAttributions(view, keepAddresses(view.blocks, chosen)));
  const whole = keepWhole(view, { shares: weighed, limit, chosen: introduced });
  return preferHeadings(view.blocks, keepNotes(view, whole));
}

/** An attribution, such as `Ada said:`, has at most so many words. */
const ATTRIBUTION = 8;

/** Keeps the first line of a quote of which most words are kept, where it is short enough to say who is quoted. */
function keepAttributions({ blocks, zones, sums }: PageView, chosen: readonly boolean[]): boolean[] {
  const kept = [...chosen];
  for (const { name, first, end } of zones) {
    if (name !== "blockquote" || end - first < 2 || (blocks[first]?.text.words ?? 0) > ATTRIBUTION) continue;
    let words = 0;
    for (let i = first + 1; i < end; i++) if (chosen[i] === true) words += blocks[i]?.text.words ?? 0;
    if (words > 0 && words >= 0.5 * sumIn(sums.words, first + 1, end)) kept[first] = true;
  }
  return kept;
}

/**
 * Keeps an address that is its own text, behind what is kept: an author pastes such a link, and menus give theirs
 * names.
 */
function keepAddresses(blocks: readonly Block[], chosen: readonly boolean[]): boolean[] {
  const kept = [...chosen];
  blocks.forEach(({ text }, i) => {
    if (kept[i - 1] === true && /^https?:\/\/\S+$/.test(text.text)) kept[i] = true;
  });
  return kept;
}

/** A heading's section is looked at up to so many blocks. */
const NEAR = 11;

/** Keeps the heading of a section, and the term of a description, whose first block and most words are kept. */
function keepHeadings(blocks: readonly Block[], chosen: readonly boolean[]): boolean[] {
  const kept = [...chosen];
  // From below, for a heading may be the first block of another's section.
  for (let i = blocks.length - 2; i >= 0; i--) {
    const rank = rankOf(blocks[i]);
    if (rank === 0 || kept[i] === true || kept[i + 1] !== true) continue;
    let words = 0;
    let keptWords = 0;
    let end = i + 1;
    for (; end < blocks.length && end <= i + NEAR; end++) {
      const next = rankOf(blocks[end]);
      if (next > 0 && next <= rank) break;
      const count = blocks[end]?.text.words ?? 0;
      words += count;
      if (kept[end] === true) keptWords += count;
    }
    if (end > i + 1 && keptWords >= 0.5 * words) kept[i] = true;
  }
  return kept;
}

/** 1 to 6 for a heading, 7 for a term, 0 for any other block. */
function rankOf(block: Block | undefined): number {
  const name = block?.zone.name ?? "";
  if (name === "dt") return 7;
  return /^h[1-6]$/.test(name) ? Number(name[1]) : 0;
}

import { isElement } from "../tree/dom.ts";
import { noteNames } from "../tree/mark-notes.ts";
import { type PageView, sumIn } from "./page-view.ts";

/** What has more words is no note, but a part of the page that is linked to. */
const LONGEST_NOTE = 300;

/**
 * Keeps the notes that what is kept refers to, where its links say that these are notes. Without its note a mark
 * misleads, and notes stand where other pages have what is beside their content. A raised link alone says little: shops
 * have their terms behind such links.
 */
export function keepNotes({ blocks, zones, sums }: PageView, chosen: readonly boolean[]): readonly boolean[] {
  const wanted = new Set(blocks.flatMap(({ index, text }) => (chosen[index] === true ? (text.notes ?? []) : [])));
  if (wanted.size === 0) return chosen;
  const kept = [...chosen];
  for (const { element, name, first, end } of zones) {
    if (!isElement(element) || !noteNames.has(name) || !wanted.has(element.attribs["id"] ?? "")) continue;
    if (sumIn(sums.words, first, end) <= LONGEST_NOTE) kept.fill(true, first, end);
  }
  return kept;
}

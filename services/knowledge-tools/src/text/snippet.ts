import { wordTerms } from "./terms.ts";

const LENGTH = 240;
/** The part of a longer text that is looked through. */
const MAX_READ = 50_000;

interface Place {
  readonly at: number;
  readonly end: number;
  readonly term: string;
}

/** The part of a text in which most of the terms stand, on one line, from a word's beginning to a word's end. */
export function snippetOf(body: string, terms: readonly string[]): string {
  const text = body.slice(0, MAX_READ).replace(/\s+/g, " ").trim();
  if (text.length <= LENGTH && body.length <= MAX_READ) return text;
  const best = bestStart(placesOf(text, new Set(terms)));
  const from = best < LENGTH / 4 ? 0 : wordStart(text, best - LENGTH / 8);
  const to = from + LENGTH >= text.length ? text.length : wordEnd(text, from + LENGTH);
  return `${from > 0 ? "… " : ""}${text.slice(from, to).trim()}${to < text.length || body.length > MAX_READ ? " …" : ""}`;
}

function placesOf(text: string, terms: ReadonlySet<string>): Place[] {
  const places: Place[] = [];
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu))
    for (const term of wordTerms(word)) if (terms.has(term)) places.push({ at: index, end: index + word.length, term });
  return places;
}

/** Where the window begins that has most different terms; of several the first. */
function bestStart(places: readonly Place[]): number {
  let best = { at: 0, different: 0 };
  const within = new Map<string, number>();
  let first = 0;
  for (const { end, term } of places) {
    within.set(term, (within.get(term) ?? 0) + 1);
    for (let place = places[first]; place !== undefined && end - place.at > LENGTH * 0.75; place = places[first]) {
      const count = (within.get(place.term) ?? 1) - 1;
      if (count === 0) within.delete(place.term);
      else within.set(place.term, count);
      first++;
    }
    if (within.size > best.different) best = { at: places[first]?.at ?? 0, different: within.size };
  }
  return best.at;
}

function wordStart(text: string, near: number): number {
  const blank = text.lastIndexOf(" ", near);
  return blank < 0 || near - blank > 40 ? Math.ceil(near) : blank + 1;
}

function wordEnd(text: string, near: number): number {
  const blank = text.lastIndexOf(" ", near);
  return blank < 0 || near - blank > 40 ? near : blank;
}

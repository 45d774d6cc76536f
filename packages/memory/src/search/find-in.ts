import { setImmediate as nextTurn } from "node:timers/promises";
import type { FindQuery, FoundPlace } from "../working-memory.ts";

const MAX_NEEDLE = 256;
const MAX_MATCHES = 1_000;
const MAX_CONTEXT_LINES = 20;
/** A line is shown up to this length, and a longer one shortened around the match. */
const SHOWN_LINE = 300;
/** So far from a match nothing is shown. */
const SEEN = 4 * SHOWN_LINE;
/** After so many characters other work of the process has its turn. */
const TURN = 512 * 1024;

/**
 * Every place of a text where another stands, case ignored, with the lines around it. Matches do not overlap. It takes
 * time in proportion to the text, whatever is looked for (Knuth, Morris and Pratt), and lets other work run in between.
 * @throws {RangeError} for a query beyond its bounds
 */
export async function findIn(
  text: string,
  { text: needle, skip = 0, limit = 20, contextLines = 2 }: FindQuery,
): Promise<{ matches: readonly FoundPlace[]; total: number; lines: number }> {
  if (needle.length < 1 || needle.length > MAX_NEEDLE)
    throw new RangeError(`Cannot look for a text of ${needle.length} characters: expected 1 to ${MAX_NEEDLE}`);
  const wanted = Math.min(Math.max(1, limit), MAX_MATCHES);
  const around = Math.min(Math.max(0, contextLines), MAX_CONTEXT_LINES);
  const fold = foldTable();
  const sought = Uint16Array.from(needle, (_, i) => fold[needle.charCodeAt(i)] as number);
  const fallback = fallbackOf(sought);
  const matches: FoundPlace[] = [];
  let total = 0;
  let line = 1;
  /** How much of the sought text ends here. */
  let matched = 0;
  const newlinesInNeedle = needle.split("\n").length - 1;
  for (let i = 0; i < text.length; i++) {
    if (i % TURN === TURN - 1) await nextTurn();
    const unit = text.charCodeAt(i);
    if (unit === 10) line++;
    const folded = fold[unit] as number;
    while (matched > 0 && sought[matched] !== folded) matched = fallback[matched - 1] as number;
    if (sought[matched] === folded) matched++;
    if (matched < sought.length) continue;
    matched = 0;
    if (total >= skip && matches.length < wanted) {
      const offset = i + 1 - sought.length;
      const at = line - newlinesInNeedle;
      matches.push({ line: at, offset, excerpt: excerptOf(text, offset, sought.length, at, around) });
    }
    total++;
  }
  return { matches, total, lines: text.endsWith("\n") ? line - 1 : line };
}

/** For each length of a match so far: the length of the longest shorter one that ends at the same place. */
function fallbackOf(sought: Uint16Array): Uint16Array {
  const fallback = new Uint16Array(sought.length);
  for (let i = 1, matched = 0; i < sought.length; i++) {
    while (matched > 0 && sought[matched] !== sought[i]) matched = fallback[matched - 1] as number;
    if (sought[matched] === sought[i]) matched++;
    fallback[i] = matched;
  }
  return fallback;
}

let folds: Uint16Array | undefined;

/** Each unit in its lower-case form, where that is one unit, too. */
function foldTable(): Uint16Array {
  if (folds !== undefined) return folds;
  folds = new Uint16Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit++) {
    const lower = unit >= 0xd800 && unit <= 0xdfff ? "" : String.fromCharCode(unit).toLowerCase();
    folds[unit] = lower.length === 1 ? lower.charCodeAt(0) : unit;
  }
  return folds;
}

/** The lines around a match, numbered; each is cut where it is long, that of the match on both sides of it. */
function excerptOf(text: string, offset: number, length: number, line: number, around: number): string {
  const start = lineStart(text, offset);
  const end = lineEnd(text, offset + length - 1);
  const before: string[] = [];
  for (let to = start.at - 1, isNear = start.isReal; isNear && before.length < around && to >= 0; ) {
    const from = lineStart(text, to);
    before.unshift(`${line - before.length - 1}-${shortened(text, from.at, to, from.at)}`);
    to = from.at - 1;
    isNear = from.isReal;
  }
  const own = `${line}:${shortened(text, start.at, end.at, offset)}`;
  const after: string[] = [];
  const next = line + text.slice(offset, offset + length).split("\n").length;
  for (let from = end.at + 1, isNear = end.isReal; isNear && after.length < around && from < text.length; ) {
    const to = lineEnd(text, from);
    after.push(`${next + after.length}-${shortened(text, from, to.at, from)}`);
    from = to.at + 1;
    isNear = to.isReal;
  }
  return [...before, own, ...after].join("\n");
}

/** As much of a line as is shown, with the place `at` in it. */
function shortened(text: string, start: number, end: number, at: number): string {
  if (end - start <= SHOWN_LINE) return text.slice(start, end).toWellFormed();
  const from = Math.max(start, Math.min(at - SHOWN_LINE / 2, end - SHOWN_LINE));
  const to = Math.min(end, from + SHOWN_LINE);
  return `${from > start ? "…" : ""}${text.slice(from, to).toWellFormed()}${to < end ? "…" : ""}`;
}

/** Where the line of a place begins, or in a long line a place before that is far enough away: nobody sees more. */
function lineStart(text: string, at: number): { readonly at: number; readonly isReal: boolean } {
  const from = Math.max(0, at - SEEN);
  const newline = text.slice(from, at).lastIndexOf("\n");
  return newline === -1 ? { at: from, isReal: from === 0 } : { at: from + newline + 1, isReal: true };
}

function lineEnd(text: string, at: number): { readonly at: number; readonly isReal: boolean } {
  const to = Math.min(text.length, at + SEEN);
  const newline = text.slice(at, to).indexOf("\n");
  return newline === -1 ? { at: to, isReal: to === text.length } : { at: at + newline, isReal: true };
}

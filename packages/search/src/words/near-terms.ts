import leven from "leven";

/** Shorter words have too many neighbours. */
const MIN_LENGTH = 5;
const MAX_FOUND = 4;

/**
 * The terms of an index that are nearest to a word that it does not have: those that it is joined of (`websearch`).
 * Else those that begin so, and those with one letter or two that differ.
 */
export function nearTerms(
  written: string,
  term: string,
  known: ReadonlyMap<string, unknown>,
  termOf: (word: string) => string,
): string[] {
  if (written.length < MIN_LENGTH || !/^[a-z]+$/.test(written)) return [];
  for (let at = 3; at <= written.length - 3; at++) {
    const parts = [termOf(written.slice(0, at)), termOf(written.slice(at))];
    if (parts.every((part) => known.has(part))) return parts;
  }
  const maxDistance = term.length >= 8 ? 2 : 1;
  const found: string[] = [];
  for (const other of known.keys()) {
    if (other.startsWith(term)) found.push(other);
    if (other[0] !== term[0] || other.length < MIN_LENGTH - 1 || Math.abs(other.length - term.length) > maxDistance)
      continue;
    if (leven(other, term, { maxDistance: maxDistance + 1 }) <= maxDistance) found.push(other);
  }
  return found.slice(0, MAX_FOUND);
}

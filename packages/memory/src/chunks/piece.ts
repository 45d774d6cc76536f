/** A range of a text that becomes a chunk, and what is repeated around it. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  /** So many characters at the end of the range are left out. */
  readonly omitted: number;
  readonly heading: string;
  readonly level: number;
}

/** The greatest length of a heading as a chunk's name. */
const MAX_HEADING = 120;

/** A heading as a chunk's name. */
export const shortHeading = (heading: string): string => (heading.length <= MAX_HEADING ? heading : `${heading.slice(0, MAX_HEADING - 1).toWellFormed()}…`);

/** Whether a cut there would be within a pair of surrogates. */
export function isWithinPair(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** A part of a text under a heading. */
export interface Section {
  readonly heading: string;
  /** 1 to 3, or 0 without heading. */
  readonly level: number;
}

/** A range of a text that becomes a chunk, and what is repeated around it. */
export interface Piece extends Section {
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  /** So many characters at the end of the range are left out. */
  readonly omitted: number;
  /** The sections that it has a part of; empty without headings. */
  readonly sections: readonly Section[];
}

/** How long pieces may be, in characters. */
export interface PieceBounds {
  readonly maxLength: number;
  /**
   * Shorter ones for the end of a text, which begins at `from`, so that no mere rest is left. A unit that fits in
   * `maxLength` may be longer.
   */
  readonly ending?: { readonly from: number; readonly target: number } | undefined;
}

/** The bound of a piece that begins there. */
export const boundAt = ({ maxLength, ending }: PieceBounds, start: number): number =>
  ending !== undefined && start >= ending.from ? ending.target : maxLength;

/** The greatest length of a heading as a chunk's name. */
const MAX_HEADING = 120;

/** A heading as a chunk's name. */
export const shortHeading = (heading: string, most = MAX_HEADING): string =>
  heading.length <= most ? heading : `${heading.slice(0, most - 1).toWellFormed()}…`;

/** What a chunk of these sections is called: by its only one, or the first and the last. */
export function nameOf(sections: readonly Section[]): Section {
  const [first, last] = [sections[0], sections.at(-1)];
  if (first === undefined || last === undefined) return { heading: "", level: 0 };
  return {
    heading: first === last ? first.heading : `${shortHeading(first.heading, 60)} … ${shortHeading(last.heading, 60)}`,
    level: first.level,
  };
}

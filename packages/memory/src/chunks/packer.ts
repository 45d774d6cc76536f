import { isWithinPair } from "@rockbot/base";
import { boundAt, nameOf, type Piece, type PieceBounds, type Section, shortHeading } from "./piece.ts";

/** Where a piece may end: before a heading of level 1 to 3, before a paragraph, or before any other unit. */
export const Border = { Paragraph: 4, Unit: 5 } as const;

/**
 * A range of a text that is not cut unless it is longer than a chunk: a line, a code fence, a record. Units follow each
 * other without gaps.
 */
export interface Unit {
  readonly start: number;
  readonly end: number;
  /** Repeated before it where a chunk begins with it: the header of its table. */
  readonly before: string;
  /** Around a cut within it: the fence's end, and its beginning for the next chunk. */
  readonly within?: { readonly before: string; readonly after: string } | undefined;
  readonly isBlank: boolean;
  /** How good its beginning is as the end of a piece: the level of the heading that it is, or one of `Border`. */
  readonly border: number;
}

/**
 * By border: what part of a piece an end there is worth. So a piece ends at half of its length at a heading of level 1,
 * rather than at a paragraph at its full length.
 */
const COST = [0, 0, 0.1, 0.2, 0.5, 1.1];
/** A piece ends no earlier than this part of its size, if possible. */
const LEAST = 1 / 8;
/** A unit that must be cut begins in the open piece if no more of that is taken. */
const MOST_BEFORE_CUT = 1 / 4;

/**
 * Packs units into pieces, as many as fit. Pieces end where the border is best, late ones before early ones. No piece
 * has nothing but headings: a unit that does not fit behind its heading is cut, as is one that is longer than a piece.
 */
export class Packer {
  readonly #pieces: Omit<Piece, "heading" | "level" | "sections">[] = [];
  readonly #sections: (Section & { readonly start: number })[] = [];
  readonly #text: string;
  readonly #bounds: PieceBounds;
  readonly #maxLength: number;
  /** The open piece: its units, where it begins, and what is repeated before it. */
  #units: Unit[] = [];
  #start = 0;
  #before = "";
  #hasText = false;

  constructor(text: string, bounds: PieceBounds) {
    this.#text = text;
    this.#bounds = bounds;
    this.#maxLength = bounds.maxLength;
  }

  /** The bound of the open piece. */
  get #target(): number {
    return boundAt(this.#bounds, this.#start);
  }

  /** Adds a heading. */
  addHeading(heading: string, level: number, unit: Omit<Unit, "border" | "isBlank" | "before">): void {
    if (heading !== "") this.#sections.push({ heading: shortHeading(heading), level, start: unit.start });
    this.add({ ...unit, before: "", isBlank: false, border: level });
  }

  add(unit: Unit): void {
    while (!this.#fits(unit.end)) {
      const isLong = unit.end - unit.start > this.#maxLength;
      const taken = unit.start - this.#start;
      const at = isLong && taken <= this.#maxLength * MOST_BEFORE_CUT ? undefined : this.#bestBorder(unit);
      if (at === undefined) {
        this.#cutWithin(unit);
        return;
      }
      const next = this.#units[at] ?? unit;
      this.#end(next.start, { next });
    }
    this.#open(unit);
  }

  finish(): readonly Piece[] {
    if (this.#start < this.#text.length || this.#pieces.length === 0) this.#end(this.#text.length);
    let at = 0;
    let continued = 0;
    return this.#pieces.map((piece) => {
      const open = this.#sections[at - 1];
      const first = at;
      while ((this.#sections[at]?.start ?? Number.POSITIVE_INFINITY) < piece.end) at++;
      const sections: Section[] = this.#sections.slice(first, at);
      const isContinued =
        open !== undefined && this.#text.slice(piece.start, this.#sections[first]?.start ?? piece.end).trim() !== "";
      if (isContinued) sections.unshift({ heading: `${open.heading} (continued ${++continued})`, level: open.level });
      if (at > first) continued = 0;
      return { ...piece, ...nameOf(sections), sections };
    });
  }

  #fits(end: number): boolean {
    return this.#before.length + end - this.#start <= (this.#hasText ? this.#target : this.#maxLength);
  }

  #open(unit: Unit): void {
    this.#units.push(unit);
    this.#hasText ||= isText(unit);
  }

  /**
   * The unit before which the open piece is best ended, `#units.length` for the one that comes; nothing where one would
   * be left with headings only.
   */
  #bestBorder(coming: Unit): number | undefined {
    const all = [...this.#units, coming];
    let best: { readonly at: number; readonly worth: number } | undefined;
    let hasText = false;
    let isAfterHeading = false;
    for (const [at, unit] of all.entries()) {
      const part = (this.#before.length + unit.start - this.#start) / this.#target;
      const worth = part - (COST[unit.border] ?? 0) - (part < LEAST ? 2 : 0);
      if (hasText && !isAfterHeading && (best === undefined || worth >= best.worth)) best = { at, worth };
      hasText ||= isText(unit);
      if (!unit.isBlank) isAfterHeading = isHeading(unit);
    }
    return best?.at;
  }

  #cutWithin(unit: Unit): void {
    const { start, end, within = NOTHING } = unit;
    const isRepeated = within.before.length + within.after.length <= this.#maxLength / 4;
    const { before, after } = isRepeated ? within : NOTHING;
    while (this.#before.length + end - this.#start > this.#target) {
      const room = this.#target - this.#before.length - after.length;
      if (start - this.#start > room / 2) {
        this.#end(start); // headings alone, as they take so much
        continue;
      }
      const most = this.#start + room;
      let cut = isWithinPair(this.#text, most) ? most - 1 : most;
      if (within !== NOTHING) {
        const from = Math.max(this.#start, start + within.before.length);
        const newline = from < cut ? this.#text.slice(from, cut).lastIndexOf("\n") : -1;
        if (newline !== -1) cut = from + newline + 1;
      }
      const isAtLineEnd = after.startsWith("\n") && this.#text.charCodeAt(cut - 1) === 10;
      this.#end(cut, { after: isAtLineEnd ? after.slice(1) : after });
      this.#before = before;
    }
    this.#open({ ...unit, start: Math.max(start, this.#start) });
  }

  /** Ends the open piece there. The next begins with `next`, which is of the open piece or comes. */
  #end(end: number, { next, after = "" }: { readonly next?: Unit; readonly after?: string } = {}): void {
    this.#pieces.push({ start: this.#start, end, before: this.#before, after, omitted: 0 });
    this.#units = this.#units.filter(({ start }) => start >= end);
    this.#hasText = this.#units.some(isText);
    this.#start = end;
    const before = next?.before ?? "";
    const isRepeated =
      next !== undefined &&
      before.length <= this.#maxLength / 4 &&
      before.length + next.end - next.start <= this.#maxLength;
    this.#before = isRepeated ? before : "";
  }
}

const isHeading = ({ border }: Unit): boolean => border < Border.Paragraph;
const isText = (unit: Unit): boolean => !unit.isBlank && !isHeading(unit);

const NOTHING = { before: "", after: "" };

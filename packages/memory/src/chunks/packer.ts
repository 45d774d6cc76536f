import { isWithinPair, type Piece, shortHeading } from "./piece.ts";

/** A range of a text that is not cut unless it is longer than a chunk: a line, a code fence, a record. Units follow each other without gaps. */
export interface Unit {
  readonly start: number;
  readonly end: number;
  /** Repeated before it where a chunk begins with it: the header of its table. */
  readonly before: string;
  /** Around a cut within it: the fence's end, and its beginning for the next chunk. */
  readonly within?: { readonly before: string; readonly after: string } | undefined;
  readonly isBlank: boolean;
}

/**
 * Packs units into pieces of at most `maxLength` characters, as many as fit. Pieces end at headings, then at the ends of paragraphs. A paragraph that is longer
 * than a piece is cut between its units, and a longer unit within.
 */
export class Packer {
  readonly pieces: Piece[] = [];
  readonly #text: string;
  readonly #maxLength: number;
  /** Where the open piece begins, how far it is packed, and what is repeated before it. */
  #start = 0;
  #end = 0;
  #before = "";
  #hasText = false;
  /** Units of the paragraph that is read, which may still fit as a whole. */
  #paragraph: Unit[] = [];
  #isLongParagraph = false;
  #heading = "";
  #level = 0;
  #continued = 0;

  constructor(text: string, maxLength: number) {
    this.#text = text;
    this.#maxLength = maxLength;
  }

  /** Begins a section: what was packed so far ends, unless that is nothing but blank lines. */
  beginSection(heading: string, level: number): void {
    this.endParagraph();
    if (this.#hasText) this.#emit(this.#end);
    this.#heading = shortHeading(heading);
    this.#level = level;
    this.#continued = 0;
  }

  /** Adds a unit to the paragraph. */
  add(unit: Unit): void {
    if (this.#isLongParagraph) {
      this.pack(unit);
      return;
    }
    this.#paragraph.push(unit);
    if (unit.end - (this.#paragraph[0] as Unit).start <= this.#maxLength) return;
    this.#isLongParagraph = true;
    this.#packParagraph();
  }

  endParagraph(): void {
    const [first] = this.#paragraph;
    const last = this.#paragraph.at(-1);
    if (first !== undefined && last !== undefined && !this.#fits(last.end) && this.#end > this.#start) this.#emit(this.#end, first);
    this.#packParagraph();
    this.#isLongParagraph = false;
  }

  finish(): readonly Piece[] {
    this.endParagraph();
    if (this.#end > this.#start || this.pieces.length === 0) this.#emit(this.#end);
    return this.pieces;
  }

  /** Packs a unit without regard to paragraphs. */
  pack(unit: Unit): void {
    if (!this.#fits(unit.end)) {
      const isLong = unit.end - unit.start > this.#maxLength;
      const hasRoom = isLong && this.#start + this.#maxLength - this.#before.length - unit.start >= this.#maxLength * 0.75;
      if (this.#end > this.#start && !hasRoom) this.#emit(this.#end, unit);
      if (isLong) this.#cutWithin(unit);
    }
    this.#end = unit.end;
    this.#hasText ||= !unit.isBlank;
  }

  #packParagraph(): void {
    const units = this.#paragraph;
    this.#paragraph = [];
    for (const unit of units) this.pack(unit);
  }

  #fits(end: number): boolean {
    return this.#before.length + end - this.#start <= this.#maxLength;
  }

  #cutWithin({ start, end, within = NOTHING }: Unit): void {
    const isRepeated = within.before.length + within.after.length <= this.#maxLength / 4;
    const { before, after } = isRepeated ? within : NOTHING;
    while (!this.#fits(end)) {
      const most = this.#start + this.#maxLength - this.#before.length - after.length;
      let cut = isWithinPair(this.#text, most) ? most - 1 : most;
      if (within !== NOTHING) {
        const from = Math.max(this.#start, start + within.before.length);
        const newline = from < cut ? this.#text.slice(from, cut).lastIndexOf("\n") : -1;
        if (newline !== -1) cut = from + newline + 1;
      }
      const isAtLineEnd = after.startsWith("\n") && this.#text.charCodeAt(cut - 1) === 10;
      this.#emit(cut, undefined, isAtLineEnd ? after.slice(1) : after);
      this.#before = before;
    }
  }

  /** Ends the open piece there; the next begins with `next`. */
  #emit(end: number, next?: Unit, after = ""): void {
    const heading = this.#heading === "" || this.#continued === 0 ? this.#heading : `${this.#heading} (continued ${this.#continued})`;
    this.pieces.push({ start: this.#start, end, before: this.#before, after, omitted: 0, heading, level: this.#level });
    this.#continued++;
    this.#start = end;
    this.#end = end;
    this.#hasText = false;
    const before = next?.before ?? "";
    const isRepeated = next !== undefined && before.length <= this.#maxLength / 4 && before.length + next.end - next.start <= this.#maxLength;
    this.#before = isRepeated ? before : "";
  }
}

const NOTHING = { before: "", after: "" };

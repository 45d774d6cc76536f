import { isWithinPair } from "@rockbot/base";
import { boundAt, type Piece, type PieceBounds, shortHeading } from "./piece.ts";

/** Deeper texts are not split as JSON. */
const MAX_DEPTH = 256;

/** An array or object that is open where the text is read. */
interface Container {
  readonly parent: Container | undefined;
  readonly depth: number;
  readonly isArray: boolean;
  /** Closes it, and all that it is in. */
  readonly close: string;
  /** How long the text is that opens it, and all that it is in. */
  readonly openLength: number;
  /** The member of its parent that it is: its key in the text, or its index. */
  readonly member: Member;
  /** The element that is read. */
  index: number;
  /** The range of an object's present key, with its quotes; undefined before it is read. */
  key: Member | undefined;
  hasColon: boolean;
}

/** A key, as a range of the text with its quotes, or an index. */
type Member = { readonly start: number; readonly end: number } | { readonly index: number };

/** A place where a chunk may end: after a comma. */
interface Boundary {
  readonly at: number;
  readonly container: Container;
  /** The index of the element after it. */
  readonly index: number;
}

/** Splits JSON: see `chunkContent`. Nothing if the text is not JSON of an array or object, or is nested too deeply. */
export function splitJson(text: string, bounds: PieceBounds): readonly Piece[] | undefined {
  const first = /^[ \t\r\n]{0,1000}[[{]/.exec(text.slice(0, 1001));
  return first === null ? undefined : new JsonSplitter(text, bounds).split();
}

/** Reads a text once, from its beginning. It checks no more than brackets, strings and commas. */
class JsonSplitter {
  readonly #text: string;
  readonly #bounds: PieceBounds;
  readonly #pieces: Piece[] = [];
  #start = 0;
  #before = "";
  /** The boundary at which the open piece begins. */
  #from: Boundary | undefined;
  /** The last boundary at each depth. */
  readonly #boundaries: Boundary[] = [];
  #container: Container | undefined;
  #isOver = false;

  constructor(text: string, bounds: PieceBounds) {
    this.#text = text;
    this.#bounds = bounds;
  }

  get #maxLength(): number {
    return boundAt(this.#bounds, this.#start);
  }

  split(): readonly Piece[] | undefined {
    const text = this.#text;
    for (let at = 0; at < text.length; ) {
      const unit = text.charCodeAt(at);
      if (unit === BLANK || unit === NEWLINE || unit === RETURN || unit === TAB) at++;
      else if (this.#isOver) return undefined;
      else if (unit === QUOTE) {
        const end = this.#readString(at);
        if (end === undefined) return undefined;
        at = end;
      } else {
        if (!this.#read(unit, at)) return undefined;
        at++;
      }
      this.#cutWhereTooLong(at);
    }
    if (!this.#isOver) return undefined;
    if (this.#start < text.length) this.#emit(text.length, "", undefined, 0);
    return this.#pieces;
  }

  /** Reads a character that is no quote. @returns whether it may stand here */
  #read(unit: number, at: number): boolean {
    const container = this.#container;
    if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) return this.#open(unit === OPEN_ARRAY);
    if (container === undefined) return false;
    if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
      if (container.isArray !== (unit === CLOSE_ARRAY)) return false;
      this.#container = container.parent;
      this.#isOver = container.parent === undefined;
      return true;
    }
    if (unit === COMMA) {
      container.index++;
      container.key = undefined;
      container.hasColon = false;
      this.#note({ at: at + 1, container, index: container.index });
      return true;
    }
    if (unit === COLON) {
      if (container.isArray || container.key === undefined || container.hasColon) return false;
      container.hasColon = true;
      return true;
    }
    const isLiteral =
      (unit >= 48 && unit <= 57) ||
      (unit >= 97 && unit <= 122) ||
      unit === 43 ||
      unit === 45 ||
      unit === 46 ||
      unit === 69;
    return isLiteral && (container.isArray || container.hasColon);
  }

  #open(isArray: boolean): boolean {
    const parent = this.#container;
    if (parent !== undefined && !parent.isArray && !parent.hasColon) return false;
    const depth = (parent?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH) return false;
    const member: Member = parent?.key ?? { index: parent?.index ?? 0 };
    const own = 1 + ("start" in member ? member.end - member.start + 1 : 0);
    this.#container = {
      parent,
      depth,
      isArray,
      close: (isArray ? "]" : "}") + (parent?.close ?? ""),
      openLength: (parent?.openLength ?? 0) + own,
      member,
      index: 0,
      key: undefined,
      hasColon: false,
    };
    return true;
  }

  /** Notes a boundary if a piece can end there. */
  #note(boundary: Boundary): void {
    if (this.#fitsUpTo(boundary)) this.#boundaries[boundary.container.depth] = boundary;
  }

  #fitsUpTo({ at, container }: Boundary): boolean {
    return at > this.#start && this.#before.length + at - this.#start + container.close.length <= this.#maxLength;
  }

  /** Ends pieces until what was read up to `at`, closed, fits in the open one. */
  #cutWhereTooLong(at: number): void {
    while (!this.#fits(at)) {
      if (this.#cutAtBoundary()) continue;
      const most = this.#start + this.#maxLength - this.#before.length;
      this.#emit(isWithinPair(this.#text, most) ? most - 1 : most, "", undefined, 0);
      this.#before = "";
    }
  }

  #fits(at: number): boolean {
    return this.#before.length + at - this.#start + (this.#container?.close.length ?? 0) <= this.#maxLength;
  }

  /** @returns whether there was a boundary: of several, the one nearest to the root, and of those the last */
  #cutAtBoundary(): boolean {
    const boundary = this.#boundaries.find((known) => known !== undefined && this.#fitsUpTo(known));
    if (boundary === undefined) return false;
    const isRepeated = this.#isRepeated(boundary.container, 0);
    this.#emit(boundary.at, isRepeated ? boundary.container.close : "", boundary, isRepeated ? 1 : 0);
    this.#before = isRepeated ? this.#openText(boundary.container) : "";
    return true;
  }

  /** Tells whether the path to a container is short enough to be repeated. */
  #isRepeated({ openLength, close }: Container, more: number): boolean {
    return openLength + close.length + more <= this.#maxLength / 4;
  }

  /**
   * Reads a string; one that is longer than a piece is cut within, and opened again.
   * @returns after its end, if it has one
   */
  #readString(start: number): number | undefined {
    const text = this.#text;
    const container = this.#container;
    if (container === undefined || (!container.isArray && container.key !== undefined && !container.hasColon))
      return undefined;
    const isKey = !container.isArray && !container.hasColon;
    const keyLength =
      container.key !== undefined && "start" in container.key ? container.key.end - container.key.start + 1 : 0;
    const isRepeated = !isKey && this.#isRepeated(container, keyLength + 2);
    const after = isRepeated ? `"${container.close}` : "";
    let before: string | undefined;
    /** A character that ends beyond this place does not fit, with what closes the string. */
    let limit = this.#start + this.#maxLength - this.#before.length - after.length;
    for (let at = start + 1; at < text.length; ) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) {
        if (isKey) container.key = { start, end: at + 1 };
        return at + 1;
      }
      const next = unit === BACKSLASH || unit >= FIRST_SURROGATE ? at + unitLength(text, at, unit) : at + 1;
      while (next > limit) {
        if (!this.#cutAtBoundary()) {
          if (this.#start >= at) break; // no more than one character, which always fits
          before ??= isRepeated ? `${this.#openText(container)}${this.#memberText(container.key)}"` : "";
          const isClosed = at <= limit;
          this.#emit(at, isClosed ? after : "", undefined, 0);
          this.#before = before;
        }
        limit = this.#start + this.#maxLength - this.#before.length - after.length;
      }
      at = next;
    }
    return undefined;
  }

  /** The text that opens a container again, and all that it is in. */
  #openText({ parent, member, isArray }: Container): string {
    const outer = parent === undefined ? "" : this.#openText(parent);
    return `${outer}${this.#memberText("start" in member ? member : undefined)}${isArray ? "[" : "{"}`;
  }

  #memberText(key: Member | undefined): string {
    return key !== undefined && "start" in key ? `${this.#text.slice(key.start, key.end)}:` : "";
  }

  #emit(end: number, after: string, boundary: Boundary | undefined, omitted: number): void {
    const heading = shortHeading(this.#nameUpTo(boundary));
    this.#pieces.push({
      start: this.#start,
      end,
      before: this.#before,
      after,
      omitted,
      heading,
      level: 0,
      sections: [],
    });
    this.#start = end;
    this.#from = boundary ?? this.#from;
  }

  /**
   * The path of a piece: that of its beginning or its end, whichever is deeper, with the elements if that is an array:
   * `$.items[120..239]`.
   */
  #nameUpTo(end: Boundary | undefined): string {
    const from = this.#from;
    const isNamedByEnd = end !== undefined && (from === undefined || end.container.depth >= from.container.depth);
    const container = isNamedByEnd ? end.container : from?.container;
    if (container === undefined) return "$";
    const path = this.#pathOf(container);
    if (!container.isArray) return path;
    const first = from?.container === container ? from.index : 0;
    return end?.container === container ? `${path}[${first}..${end.index - 1}]` : `${path}[${first}..]`;
  }

  #pathOf({ parent, member }: Container): string {
    if (parent === undefined) return "$";
    return `${this.#pathOf(parent)}${"start" in member ? `.${this.#text.slice(member.start + 1, Math.min(member.end - 1, member.start + 60))}` : `[${member.index}]`}`;
  }
}

/** How many characters belong together in a string: an escape, or a pair of surrogates, also one of escapes. */
function unitLength(text: string, at: number, unit: number): number {
  if (unit !== BACKSLASH) return isWithinPair(text, at + 1) ? 2 : 1;
  if (text.charCodeAt(at + 1) !== 117) return 2;
  const isPair = /^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}$/.test(text.slice(at, at + 12));
  return isPair ? 12 : 6;
}

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const BLANK = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const FIRST_SURROGATE = 0xd800;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

import type { Shown } from "./open-terminal.ts";

/** Characters of one look, side by side. */
export interface Span {
  readonly column: number;
  readonly text: string;
  /** The number of its colour, as in SGR 30 to 37 and 90 to 97. */
  readonly color: number | undefined;
  /** When its last character came. */
  readonly atMs: number;
}

export type Line = readonly Span[];

interface Cell {
  readonly char: string;
  readonly color: number | undefined;
  readonly atMs: number;
}

// A sequence of colours, one of another kind, or a character.
const parts = /\u001b\[([\d;]*)m|\u001b\[[\d;?]*[A-Za-z]|\u001b[^[]|[\s\S]/gu;

/**
 * The lines that a terminal of `columns` columns holds in the end, those that have scrolled away too, with the time of
 * each character. Knows what commands print that append: colours, line breaks and backspace. It follows no program that
 * moves about the screen.
 */
export function screenLines(shown: readonly Shown[], columns: number): readonly Line[] {
  const lines: Cell[][] = [[]];
  let color: number | undefined;
  for (const { atMs, text } of shown) {
    for (const [part, codes] of text.matchAll(parts)) {
      const line = lines.at(-1) as Cell[];
      if (codes !== undefined) color = colorAfter(codes, color);
      else if (part === "\n") lines.push([]);
      else if (part === "\b") line.pop();
      else if (part >= " ") {
        if (line.length === columns) lines.push([{ char: part, color, atMs }]);
        else line.push({ char: part, color, atMs });
      }
    }
  }
  return lines.map(toSpans);
}

function colorAfter(codes: string, color: number | undefined): number | undefined {
  return codes.split(";").reduce<number | undefined>((now, code) => {
    const number = Number(code);
    if (number === 0 || number === 39) return undefined;
    return (number >= 30 && number <= 37) || (number >= 90 && number <= 97) ? number : now;
  }, color);
}

/** Characters that were typed stay apart, since each has its time. */
function toSpans(cells: readonly Cell[]): Line {
  const spans: Span[] = [];
  for (const [column, { char, color, atMs }] of cells.entries()) {
    const last = spans.at(-1);
    if (last !== undefined && last.color === color && last.atMs === atMs)
      spans[spans.length - 1] = { ...last, text: last.text + char };
    else spans.push({ column, text: char, color, atMs });
  }
  return spans;
}

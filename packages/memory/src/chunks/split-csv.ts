import { Border, Packer } from "./packer.ts";
import { type Piece, type PieceBounds, shortHeading } from "./piece.ts";

/** A text is taken for CSV if so many records have as many fields as the first. */
const SAMPLE = 50;
const SAMPLE_CHARS = 256 * 1024;
const DELIMITERS = [44, 9, 59]; // comma, tab, semicolon

/** Splits CSV: see `chunkContent`. Nothing if the text does not look like CSV, unless that is sure. */
export function splitCsv(
  text: string,
  bounds: PieceBounds,
  { isSure }: { readonly isSure: boolean },
): readonly Piece[] | undefined {
  if (!isSure && !looksLikeCsv(text)) return undefined;
  const packer = new Packer(text, bounds);
  const headerEnd = recordEnd(text, 0);
  const header = text.slice(0, headerEnd);
  /** Where each record begins. */
  const starts: number[] = [];
  for (let start = 0; start < text.length; ) {
    const end = recordEnd(text, start);
    starts.push(start);
    packer.add({ start, end, before: start === 0 ? "" : header, isBlank: false, border: Border.Unit });
    start = end;
  }
  let row = 0;
  return packer.finish().map((piece) => {
    const first = row;
    while (row < starts.length && (starts[row] as number) < piece.end) row++;
    const rows = Math.max(first, 1) >= row ? `Row ${Math.max(row - 1, 0)}` : `Rows ${Math.max(first, 1)} to ${row - 1}`;
    return { ...piece, heading: shortHeading(rows) };
  });
}

/** At least three records, and as many as are looked at, have the same number of fields, from two on. */
function looksLikeCsv(text: string): boolean {
  const first = text.charCodeAt(0);
  if (first === 35 || first === 124 || first === 60) return false; // #, |, <
  return DELIMITERS.some((delimiter) => {
    let records = 0;
    let fields = 0;
    for (let start = 0; start < text.length && records < SAMPLE && start < SAMPLE_CHARS; records++) {
      const end = recordEnd(text, start, SAMPLE_CHARS);
      if (end - start > SAMPLE_CHARS / 4) return false;
      const own = fieldsOf(text, start, end, delimiter);
      if (records === 0) fields = own;
      if (fields < 2 || own !== fields) return false;
      start = end;
    }
    return records >= 3;
  });
}

/** After the newline of the record that begins there; one within quotes belongs to it. */
function recordEnd(text: string, start: number, most = Number.POSITIVE_INFINITY): number {
  let isQuoted = false;
  const last = Math.min(text.length, start + most);
  for (let i = start; i < last; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 34) isQuoted = !isQuoted;
    else if (unit === 10 && !isQuoted) return i + 1;
  }
  return last;
}

function fieldsOf(text: string, start: number, end: number, delimiter: number): number {
  let fields = 1;
  let isQuoted = false;
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 34) isQuoted = !isQuoted;
    else if (unit === delimiter && !isQuoted) fields++;
  }
  return fields;
}

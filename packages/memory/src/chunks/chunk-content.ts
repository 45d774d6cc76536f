import type { Piece, PieceBounds, Section } from "./piece.ts";
import { splitCsv } from "./split-csv.ts";
import { splitJson } from "./split-json.ts";
import { splitMarkdown } from "./split-markdown.ts";

/** A part of a text that was too large for a model. */
export interface Chunk {
  /** What the model reads: the source's range, with what is repeated so that it can be read alone. */
  readonly text: string;
  /** Its sections by name, `{first} … {last}` of several; of JSON the path, of CSV the rows. Empty without one. */
  readonly heading: string;
  /** The level of its first section: 1 to 3, or 0 without heading. */
  readonly level: number;
  /**
   * Each heading in it, and before these `{heading} (continued 1)` where it begins within a section. Empty for JSON and
   * CSV.
   */
  readonly sections: readonly Section[];
  /** Its range of the source, in characters. The ranges of all chunks cover the source exactly, in order. */
  readonly start: number;
  readonly end: number;
}

/** How a text is chunked. */
export interface ChunkOptions {
  /** The most characters of a chunk, at least 64. */
  readonly maxLength: number;
  /** What the text is. @default "auto": JSON, CSV or markdown, by its form */
  readonly form?: "auto" | "markdown" | "json" | "csv" | undefined;
}

/**
 * Splits a text into chunks, in time and memory in proportion to its length.
 *
 * - Markdown: at headings of level 1 to 3, then at blank lines, then at the ends of lines, then anywhere. Short
 *   sections share a chunk. A heading stands before its text.
 * - JSON: between the elements of arrays and the members of objects, at the level nearest to the root that fits. Each
 * chunk repeats the path to its
 *   elements, and is JSON itself. A comma at its end is left out.
 * - CSV: between records; each chunk repeats the first.
 *
 * There are about as few chunks as can be, and the last one is no mere rest. No chunk is longer than `maxLength`. Then,
 * none ends within a pair of surrogates. Then, none ends within a row of a table or a code fence that fits in a chunk
 * with the headings right before it. A longer row is split, and a longer fence is closed at the end of a chunk and
 * opened again in the next. A header, path or fence is not repeated where it takes more than a quarter of a chunk.
 * @throws {RangeError} if `maxLength` is less than 64
 */
export function chunkContent(text: string, { maxLength, form = "auto" }: ChunkOptions): readonly Chunk[] {
  if (!Number.isSafeInteger(maxLength) || maxLength < 64)
    throw new RangeError(`Cannot make chunks of ${maxLength} characters: expected a whole number from 64`);
  return evenPieces(text, maxLength, form).map(({ start, end, before, after, omitted, heading, level, sections }) => ({
    text: before + text.slice(start, end - omitted) + after,
    heading,
    level,
    sections,
    start,
    end,
  }));
}

/** A last piece of less than this part of a chunk is a mere rest. */
const REST = 1 / 8;
/** The last but one then has this part of what the two have. */
const LAST_BUT_ONE = 5 / 8;

/** As few pieces as can be. Where the last would be a mere rest, the one before gives it a part. */
function evenPieces(text: string, maxLength: number, form: ChunkOptions["form"]): readonly Piece[] {
  const pieces = piecesOf(text, { maxLength }, form);
  const [before, last] = pieces.slice(-2);
  if (before === undefined || last === undefined || last.end - last.start >= maxLength * REST) return pieces;
  const target = Math.max(64, Math.ceil((last.end - before.start) * LAST_BUT_ONE));
  const even = piecesOf(text, { maxLength, ending: { from: before.start, target } }, form);
  return even.length === pieces.length ? even : pieces;
}

function piecesOf(text: string, bounds: PieceBounds, form: ChunkOptions["form"]): readonly Piece[] {
  const asJson = form === "auto" || form === "json" ? splitJson(text, bounds) : undefined;
  const asCsv =
    asJson === undefined && (form === "auto" || form === "csv")
      ? splitCsv(text, bounds, { isSure: form === "csv" })
      : undefined;
  return asJson ?? asCsv ?? splitMarkdown(text, bounds);
}

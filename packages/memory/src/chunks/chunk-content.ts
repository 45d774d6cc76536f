import { joinPieces } from "./join-pieces.ts";
import type { Piece } from "./piece.ts";
import { splitCsv } from "./split-csv.ts";
import { splitJson } from "./split-json.ts";
import { splitMarkdown } from "./split-markdown.ts";

/** A part of a text that was too large for a model. */
export interface Chunk {
  /** What the model reads: the source's range, with what is repeated so that it can be read alone. */
  readonly text: string;
  /** The heading that it is under, `{heading} (continued 1)` for further parts; of JSON the path, of CSV the rows. Empty without one. */
  readonly heading: string;
  /** 1 to 3, or 0 without heading. */
  readonly level: number;
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
  /** Where there would be more, neighbours are joined up to `maxLength`. @default 1_000 */
  readonly maxChunks?: number | undefined;
}

/**
 * Splits a text into chunks, in time and memory in proportion to its length.
 *
 * - Markdown: at headings of level 1 to 3, then at blank lines, then at the ends of lines, then anywhere. A heading without text is a chunk of its own.
 * - JSON: between the elements of arrays and the members of objects, at the level nearest to the root that fits. Each chunk repeats the path to its
 *   elements, and is JSON itself. A comma at its end is left out.
 * - CSV: between records; each chunk repeats the first.
 *
 * No chunk is longer than `maxLength`. Then, none ends within a pair of surrogates. Then, none ends within a row of a table or a code fence that fits in a
 * chunk. A longer row is split, and a longer fence is closed at the end of a chunk and opened again in the next. A header, path or fence is
 * not repeated where it takes more than a quarter of a chunk.
 * @throws {RangeError} if `maxLength` is less than 64
 */
export function chunkContent(text: string, { maxLength, form = "auto", maxChunks = 1_000 }: ChunkOptions): readonly Chunk[] {
  if (!Number.isSafeInteger(maxLength) || maxLength < 64)
    throw new RangeError(`Cannot make chunks of ${maxLength} characters: expected a whole number from 64`);
  const pieces = joinPieces(piecesOf(text, maxLength, form), maxLength, maxChunks);
  return pieces.map(({ start, end, before, after, omitted, heading, level }) => ({
    text: before + text.slice(start, end - omitted) + after,
    heading,
    level,
    start,
    end,
  }));
}

function piecesOf(text: string, maxLength: number, form: ChunkOptions["form"]): readonly Piece[] {
  const asJson = form === "auto" || form === "json" ? splitJson(text, maxLength) : undefined;
  const asCsv = asJson === undefined && (form === "auto" || form === "csv") ? splitCsv(text, maxLength, { isSure: form === "csv" }) : undefined;
  return asJson ?? asCsv ?? splitMarkdown(text, maxLength);
}

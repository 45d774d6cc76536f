import { Packer, type Unit } from "./packer.ts";
import type { Piece } from "./piece.ts";

/** Splits markdown: see `chunkContent`. */
export function splitMarkdown(text: string, maxLength: number): readonly Piece[] {
  const packer = new Packer(text, maxLength);
  /** The last line was blank, so that the next other one begins a paragraph. */
  let isAfterBlank = false;
  let table = NO_TABLE;
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const fence = fenceAt(text, start, end);
    const heading = fence === undefined ? headingAt(text, start, end) : undefined;
    const isBlank = fence === undefined && heading === undefined && isBlankLine(text, start, end);
    if (!isBlank && isAfterBlank) packer.endParagraph();
    if (heading !== undefined) packer.beginSection(heading.text, heading.level);
    if (fence !== undefined) {
      const closed = endOfFence(text, end, fence);
      packer.add({ start, end: closed, before: "", within: { before: fence.open, after: `\n${fence.mark}\n` }, isBlank: false });
      table = NO_TABLE;
      isAfterBlank = false;
      start = closed;
      continue;
    }
    table = isBlank || heading !== undefined ? NO_TABLE : nextRow(table, text, start, end);
    packer.add({ start, end, before: table.rows > 0 ? table.header : "", isBlank } satisfies Unit);
    isAfterBlank = isBlank;
    start = end;
  }
  return packer.finish();
}

/** After the newline, or the end of the text. */
function lineEnd(text: string, start: number): number {
  const newline = text.indexOf("\n", start);
  return newline === -1 ? text.length : newline + 1;
}

/** A line of `# `, `## ` or `### ` without blanks before it. */
function headingAt(text: string, start: number, end: number): { readonly text: string; readonly level: number } | undefined {
  let level = 0;
  while (level < 4 && text.charCodeAt(start + level) === HASH) level++;
  if (level < 1 || level > 3 || text.charCodeAt(start + level) !== BLANK) return undefined;
  return { text: text.slice(start + level, Math.min(end, start + 400)).trim(), level };
}

function isBlankLine(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i);
    if (unit !== BLANK && unit !== TAB && unit !== NEWLINE && unit !== RETURN) return false;
  }
  return true;
}

interface Fence {
  /** The line that opens it, with its newline. */
  readonly open: string;
  /** The marks that end it. */
  readonly mark: string;
}

/** A code fence opens with at least three backticks or tildes, after up to three blanks; what follows backticks has none. */
function fenceAt(text: string, start: number, end: number): Fence | undefined {
  let at = start;
  while (at < start + 3 && text.charCodeAt(at) === BLANK) at++;
  const unit = text.charCodeAt(at);
  if (unit !== BACKTICK && unit !== TILDE) return undefined;
  let markEnd = at;
  while (markEnd < end && text.charCodeAt(markEnd) === unit) markEnd++;
  if (markEnd - at < 3) return undefined;
  if (unit === BACKTICK) {
    const next = text.slice(markEnd, end).indexOf("`");
    if (next !== -1) return undefined;
  }
  const open = text.slice(start, end);
  return { open: open.endsWith("\n") ? open : `${open}\n`, mark: text.slice(at, markEnd) };
}

/** After the line that ends the fence, or the end of the text. @param from after the line that opens it */
function endOfFence(text: string, from: number, { mark }: Fence): number {
  const unit = mark.charCodeAt(0);
  for (let start = from; start < text.length; ) {
    const end = lineEnd(text, start);
    let at = start;
    while (at < start + 3 && text.charCodeAt(at) === BLANK) at++;
    let markEnd = at;
    while (markEnd < end && text.charCodeAt(markEnd) === unit) markEnd++;
    if (markEnd - at >= mark.length && isBlankLine(text, markEnd, end)) return end;
    start = end;
  }
  return text.length;
}

/** How far into a table the lines have come: its header are two lines, of which the second is made of dashes and bars. */
interface Table {
  readonly header: string;
  /** Rows after the header; -1 while the first line only may be one. */
  readonly rows: number;
}

const NO_TABLE: Table = { header: "", rows: -1 };
/** A longer line is no part of a header that is repeated. */
const MAX_HEADER_LINE = 4_096;

/** The table after one more line. */
function nextRow({ header, rows }: Table, text: string, start: number, end: number): Table {
  if (rows >= 0) return { header, rows: rows + 1 };
  if (end - start > MAX_HEADER_LINE) return NO_TABLE;
  const line = text.slice(start, end);
  if (header !== "" && /^[ \t|:-]+\r?\n?$/.test(line) && line.includes("|") && line.includes("-")) return { header: header + line, rows: 0 };
  return line.includes("|") ? { header: line, rows: -1 } : NO_TABLE;
}

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const BLANK = 32;
const HASH = 35;
const BACKTICK = 96;
const TILDE = 126;

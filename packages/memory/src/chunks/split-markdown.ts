import { Border, Packer } from "./packer.ts";
import type { Piece, PieceBounds } from "./piece.ts";

/** Splits markdown: see `chunkContent`. */
export function splitMarkdown(text: string, bounds: PieceBounds): readonly Piece[] {
  const packer = new Packer(text, bounds);
  /** The last line was blank, so that the next other one begins a paragraph. */
  let isAfterBlank = true;
  /** The header of the table that the lines are in, with the line below it. */
  let header = "";
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const border = isAfterBlank ? Border.Paragraph : Border.Unit;
    const fence = fenceAt(text, start, end);
    const heading = fence === undefined ? headingAt(text, start, end) : undefined;
    if (fence !== undefined) {
      const closed = endOfFence(text, end, fence);
      packer.add({
        start,
        end: closed,
        before: "",
        within: { before: fence.open, after: `\n${fence.mark}\n` },
        isBlank: false,
        border,
      });
      header = "";
      isAfterBlank = false;
      start = closed;
      continue;
    }
    if (heading !== undefined) {
      packer.addHeading(heading.text, heading.level, { start, end });
      header = "";
      isAfterBlank = false;
      start = end;
      continue;
    }
    const isBlank = isBlankLine(text, start, end);
    const headerEnd = header === "" && !isBlank ? headerEndAt(text, start, end) : undefined;
    if (isBlank) header = "";
    packer.add({ start, end: headerEnd ?? end, before: header, isBlank, border: isBlank ? Border.Unit : border });
    if (headerEnd !== undefined) header = text.slice(start, headerEnd);
    isAfterBlank = isBlank;
    start = headerEnd ?? end;
  }
  return packer.finish();
}

/** After the newline, or the end of the text. */
function lineEnd(text: string, start: number): number {
  const newline = text.indexOf("\n", start);
  return newline === -1 ? text.length : newline + 1;
}

/** A line of `# `, `## ` or `### ` without blanks before it. */
function headingAt(
  text: string,
  start: number,
  end: number,
): { readonly text: string; readonly level: number } | undefined {
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

/**
 * A code fence opens with at least three backticks or tildes, after up to three blanks; what follows backticks has
 * none.
 */
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

/** A longer line is no part of a header that is repeated. */
const MAX_HEADER_LINE = 4_096;

/** After the two lines with which a table begins there: one with bars, and one made of dashes and bars. */
function headerEndAt(text: string, start: number, end: number): number | undefined {
  if (end - start > MAX_HEADER_LINE || !text.slice(start, end).includes("|")) return undefined;
  const nextEnd = lineEnd(text, end);
  if (nextEnd - end > MAX_HEADER_LINE) return undefined;
  const next = text.slice(end, nextEnd);
  return /^[ \t|:-]+\r?\n?$/.test(next) && next.includes("|") && next.includes("-") ? nextEnd : undefined;
}

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const BLANK = 32;
const HASH = 35;
const BACKTICK = 96;
const TILDE = 126;

/**
 * What may begin or end code or a comment: fences and comments at the start of a line, runs of backticks, other
 * comments, blank lines.
 */
const MARK = /^ {0,3}(?<block>`{3,}(?=[^`\n]*$)|~{3,}|<!--)|(?<ticks>`+)|(?<comment><!--)|\n[ \t]*(?=\n)/gm;

/**
 * Markdown without its comments of HTML, which no reader sees. In code they are text. One that does not end hides the
 * rest if it begins a line, and is text otherwise.
 */
export function withoutComments(text: string): string {
  const marks = [...text.matchAll(MARK)];
  const lastEnd = text.lastIndexOf("-->");
  let seen = "";
  let from = 0;
  for (let i = 0; i < marks.length; i++) {
    const mark = marks[i] as RegExpExecArray;
    const { block, ticks, comment } = mark.groups ?? {};
    if (mark.index < from) continue;
    if (ticks !== undefined) i = endOfSpan(marks, i) ?? i;
    else if (block !== undefined && block !== "<!--") i = endOfFence(text, marks, i) ?? marks.length;
    else if (block !== undefined || comment !== undefined) {
      const isEnded = mark.index < lastEnd;
      if (!isEnded && block === undefined) continue;
      seen += text.slice(from, mark.index);
      from = isEnded ? text.indexOf("-->", mark.index + 2) + 3 : text.length; // the shortest is <!-->
    }
  }
  return seen + text.slice(from);
}

/** The same run of backticks, within the paragraph. */
function endOfSpan(marks: readonly RegExpExecArray[], start: number): number | undefined {
  for (let i = start + 1; i < marks.length; i++) {
    const { ticks, comment } = marks[i]?.groups ?? {};
    if (ticks !== undefined && ticks === marks[start]?.groups?.["ticks"]) return i;
    if (ticks === undefined && comment === undefined) return undefined;
  }
  return undefined;
}

/** A fence of the same sign that is at least as long, alone on its line. */
function endOfFence(text: string, marks: readonly RegExpExecArray[], start: number): number | undefined {
  const opening = marks[start]?.groups?.["block"] ?? "";
  const blank = /[ \t]*$/my;
  for (let i = start + 1; i < marks.length; i++) {
    const { index = 0, 0: whole = "", groups } = marks[i] ?? {};
    blank.lastIndex = index + whole.length;
    if (groups?.["block"]?.startsWith(opening) === true && blank.test(text)) return i;
  }
  return undefined;
}

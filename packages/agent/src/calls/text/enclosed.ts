/** A part of a text between two marks. */
export interface Enclosed {
  readonly begin: RegExpExecArray;
  /** What stands between the marks, as it is. */
  readonly inner: string;
  /** The place of the whole, with its marks. */
  readonly start: number;
  readonly end: number;
}

/**
 * The parts of a text between a beginning and the next end of it, one after the other. It takes time in proportion to
 * the text, where an expression for the whole would try each beginning with all that follows.
 * @param begin a global expression
 * @param endOf the end that belongs to a beginning
 */
export function enclosed(
  text: string,
  begin: RegExp,
  endOf: (begin: RegExpExecArray) => string,
  { mayLackEnd = false }: { readonly mayLackEnd?: boolean } = {},
): readonly Enclosed[] {
  const found: Enclosed[] = [];
  /** Ends that do not come any more. */
  const gone = new Set<string>();
  const search = new RegExp(begin);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const end = endOf(match);
    const from = match.index + match[0].length;
    const at = gone.has(end) ? -1 : text.indexOf(end, from);
    if (at === -1) gone.add(end);
    if (at === -1 && !mayLackEnd) continue;
    const to = at === -1 ? text.length : at;
    search.lastIndex = at === -1 ? to : to + end.length;
    found.push({ begin: match, inner: text.slice(from, to), start: match.index, end: search.lastIndex });
  }
  return found;
}

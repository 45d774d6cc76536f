/** Where something stands in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * By the line below a run of comments: the reason that one of them gives.
 * @param reason its first group is the reason
 */
export function reasonsByLine(
  comments: readonly (Span & { readonly value: string })[],
  starts: readonly number[],
  reason: RegExp,
): Map<number, string> {
  const reasons = new Map<number, string>();
  for (const { start, end, value } of comments) {
    const given = reason.exec(value)?.[1] ?? reasons.get(lineAt(starts, start));
    if (given !== undefined) reasons.set(lineAt(starts, end) + 1, given.trim());
  }
  return reasons;
}

/** Where each line begins. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Counted from 1. */
export function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

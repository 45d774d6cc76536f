/**
 * Tells whether the pattern, in which `*` stands for any characters, is the name of the tool. Takes time in proportion
 * to both, whatever they are.
 */
export function matchesGlob(glob: string, tool: string): boolean {
  const parts = glob.split("*");
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return tool === glob;
  if (!tool.startsWith(first) || !tool.endsWith(last) || tool.length < first.length + last.length) return false;
  const end = tool.length - last.length;
  let at = first.length;
  for (const part of rest) {
    at = tool.indexOf(part, at);
    if (at < 0 || at + part.length > end) return false;
    at += part.length;
  }
  return true;
}

/** The first of the patterns that is the name of the tool. */
export const findGlob = (globs: readonly string[], tool: string): string | undefined =>
  globs.find((glob) => matchesGlob(glob, tool));

/** Tells whether some name fits both patterns. */
export function globsMeet(a: string, b: string): boolean {
  const failed = new Set<number>();
  function meetFrom(i: number, j: number): boolean {
    if (i === a.length && j === b.length) return true;
    const key = i * (b.length + 1) + j;
    if (failed.has(key)) return false;
    const isMeeting =
      (a[i] === "*" && (meetFrom(i + 1, j) || (j < b.length && meetFrom(i, j + 1)))) ||
      (b[j] === "*" && (meetFrom(i, j + 1) || (i < a.length && meetFrom(i + 1, j)))) ||
      (i < a.length && a[i] === b[j] && meetFrom(i + 1, j + 1));
    if (!isMeeting) failed.add(key);
    return isMeeting;
  }
  return meetFrom(0, 0);
}

/** Tells whether every name that fits `inner` fits `outer`: only a `*` of `outer` takes in one of `inner`. */
export const globCovers = (outer: string, inner: string): boolean => matchesGlob(outer, inner);

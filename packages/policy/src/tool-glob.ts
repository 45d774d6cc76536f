/** Whether the pattern, in which `*` stands for any characters, is the name of the tool. Takes time in proportion to both, whatever they are. */
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
export const findGlob = (globs: readonly string[], tool: string): string | undefined => globs.find((glob) => matchesGlob(glob, tool));

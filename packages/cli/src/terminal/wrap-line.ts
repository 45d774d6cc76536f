import { columnsOf } from "./fit-line.ts";

/**
 * A label of `indent` columns and what follows it, broken between words, where a terminal would break it anywhere. A
 * pipe has no columns, and gets one line.
 */
export function wrapLine(
  text: string,
  { columns }: { readonly columns?: number | undefined },
  { indent }: { readonly indent: number },
): string {
  const width = (columns ?? 0) - indent;
  if (width < 20) return text;
  const lines: string[] = [];
  for (const word of text.slice(indent).trim().split(/ +/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && columnsOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return text.slice(0, indent) + lines.join(`\n${" ".repeat(indent)}`);
}

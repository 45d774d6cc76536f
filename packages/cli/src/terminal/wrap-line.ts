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
  const lines = text.slice(indent).match(new RegExp(`.{1,${width}}(?: |$)|\\S+`, "g")) ?? [];
  return text.slice(0, indent) + lines.map((line) => line.trimEnd()).join(`\n${" ".repeat(indent)}`);
}

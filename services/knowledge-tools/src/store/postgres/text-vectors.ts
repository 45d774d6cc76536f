import { termsOf } from "../../text/terms.ts";

/** Positions that PostgreSQL tells apart, and those of one term that it keeps. */
const MAX_POSITION = 16_383;
const MAX_PLACES = 255;

/**
 * The terms of an item as the text of a `tsvector`: they are ours, so no configuration of the database changes them. A
 * title's have the weight A.
 */
export function vectorOf({ title, body }: { readonly title: string; readonly body: string }): string {
  const places = new Map<string, string[]>();
  let position = 0;
  for (const [text, weight] of [
    [title, "A"],
    [body, ""],
  ] as const) {
    for (const term of termsOf(text)) {
      position++;
      const known = places.get(term);
      if (known === undefined) places.set(term, [`${Math.min(position, MAX_POSITION)}${weight}`]);
      else if (known.length < MAX_PLACES && position < MAX_POSITION) known.push(`${position}${weight}`);
    }
  }
  return [...places].map(([term, at]) => `'${term}':${at.join(",")}`).join(" ");
}

/** What has all of the terms, all but one, or any, as the text of a `tsquery`. Terms are letters and digits. */
export function queryOf(terms: readonly string[], atLeast: number): string {
  const quoted = terms.map((term) => `'${term}'`);
  if (atLeast >= quoted.length) return quoted.join(" & ");
  if (atLeast <= 1) return quoted.join(" | ");
  return quoted.map((_, left) => `(${quoted.filter((_, i) => i !== left).join(" & ")})`).join(" | ");
}

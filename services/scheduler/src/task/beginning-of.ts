/** A text, or so much of its beginning, without half of a sign. */
export const beginningOf = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** What terminals show two columns wide: emoji, and the scripts of East Asia. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** How many columns of a terminal a text takes. */
export const columnsOf = (text: string): number =>
  Array.from(graphemes.segment(text), ({ segment }) => columnsOfOne(segment)).reduce((sum, width) => sum + width, 0);

const columnsOfOne = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : 1);

/**
 * Cuts a line to what a terminal shows in one row, with an ellipsis for the rest. A pipe has no columns, and gets all
 * of it.
 */
export function fitLine(text: string, { columns: shown }: { readonly columns?: number | undefined }): string {
  const columns = shown || Number.POSITIVE_INFINITY; // a terminal that does not know its size says 0
  let [width, kept] = [0, ""];
  for (const { segment, index } of graphemes.segment(text)) {
    width += columnsOfOne(segment);
    if (width > columns) return `${text.slice(0, kept.length)}…`;
    if (width < columns) kept = text.slice(0, index + segment.length); // the last column is the ellipsis's
  }
  return text;
}

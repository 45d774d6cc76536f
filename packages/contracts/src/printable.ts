/**
 * Characters that may move a cursor, turn text around or hide it: control characters, bidirectional marks, invisible
 * ones.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;
const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Strangers' text on one line, fit for a terminal, at most `maxLength` characters of it. */
export function printable(text: string, maxLength = 200): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cut.replace(UNPRINTABLE, (char) => short[char] ?? escaped(char));
}

/** JSON on one line, fit for a terminal: it parses to the same value. */
export const printableJson = (value: object): string => JSON.stringify(value).replace(UNPRINTABLE, escaped);

/** All that a reader does not see, or sees in another order or as a usual space. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800[\p{Z}--[ ]]]/gv;

/** A JSON text with escapes for all that is hidden in it: it parses to the same value. */
export const withHiddenShown = (json: string): string => json.replace(HIDDEN, escaped);

const escaped = (char: string): string =>
  Array.from({ length: char.length }, (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, "0")}`).join(
    "",
  );

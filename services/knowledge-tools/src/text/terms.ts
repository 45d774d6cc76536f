import { remembered } from "@rockbot/base";
import { stem, tokenize } from "@rockbot/search/words";

/** A longer run of letters is no word. */
const MAX_LENGTH = 40;
/** Further words of a question are left out. */
const MAX_QUERY = 12;

/** Words that join others, and are left out of questions that have more. */
const FILLERS: ReadonlySet<string> = new Set(
  "a about an and any are as at be by can do does for from had has have how i if in into is it its me my of on or our so that the their them then there these this to was we were what when where which who why will with you your".split(
    " ",
  ),
);

/** A word as indexes hold it: without accents, case and English endings. */
const termOf = (token: string): string => (/^[a-z]{3,}$/.test(token) ? stem(token) : token);

/** Words of texts are few, and looked up again and again. */
const termsOfWord = remembered((word) => termsOf(word), 50_000);

/** The terms of one word, which is one but for scripts without blanks. */
export const wordTerms = (word: string): readonly string[] => termsOfWord(word);

/** The terms of a text, in their order. */
export const termsOf = (text: string): string[] =>
  tokenize(text, { unicode: true, identifiers: false, characters: true }).flatMap((token) =>
    token.length > MAX_LENGTH ? [] : [termOf(token)],
  );

/** The different terms of a question. */
export function queryTerms(query: string): string[] {
  const tokens = tokenize(query, { unicode: true, identifiers: false }).filter(({ length }) => length <= MAX_LENGTH);
  const telling = tokens.filter((token) => !FILLERS.has(token));
  return [...new Set((telling.length > 0 ? telling : tokens).map(termOf))].slice(0, MAX_QUERY);
}

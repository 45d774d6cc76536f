/** What counts as a word. */
export interface TokenizeOptions {
  /** Letters and digits of every script, with accents taken off; scripts without blanks as pairs of characters. Else runs of `a-z0-9`. */
  readonly unicode: boolean;
  /** `createIssue` is `create`, `issue` and `createissue`; `oauth2` is `oauth` and `oauth2`. */
  readonly identifiers: boolean;
}

/** The words of a text, in lower case and in order. One that was split stands after its parts. */
export function tokenize(text: string, { unicode, identifiers }: TokenizeOptions): string[] {
  const words = unicode
    ? (text
        .normalize("NFKD")
        .replace(/\p{M}+/gu, "")
        .match(/[\p{L}\p{N}]+/gu) ?? [])
    : (text.match(/[a-zA-Z0-9]+/g) ?? []);
  return words.flatMap((word) => {
    if (unicode && UNSPACED.test(word)) return pairsIn(word);
    const whole = word.toLowerCase();
    if (!identifiers) return [whole];
    const parts = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}\p{N}]+|\p{N}+/gu) ?? [];
    if (parts.length < 2) return [whole];
    return [...parts.map((part) => part.toLowerCase()).filter((part) => part.length > 1), whole];
  });
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function pairsIn(word: string): string[] {
  const characters = [...word.toLowerCase()];
  return characters.length === 1 ? characters : characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}

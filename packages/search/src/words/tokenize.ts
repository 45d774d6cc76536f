/** What counts as a word. */
export interface TokenizeOptions {
  /**
   * Letters and digits of every script, with accents taken off; scripts without blanks as pairs of characters. Else
   * runs of `a-z0-9`.
   */
  readonly unicode: boolean;
  /** `createIssue` is `create`, `issue` and `createissue`; `oauth2` is `oauth` and `oauth2`. */
  readonly identifiers: boolean;
  /**
   * True to give each character of scripts without blanks by itself, too, so that a question of one character finds it.
   * @default false
   */
  readonly characters?: boolean | undefined;
}

/** The words of a text, in lower case and in order. One that was split stands after its parts. */
export function tokenize(text: string, { unicode, identifiers, characters = false }: TokenizeOptions): string[] {
  const words = unicode
    ? (text
        .normalize("NFKD")
        .replace(/\p{M}+/gu, "")
        .replace(/[ßẞæÆœŒøØłŁđĐðÐþÞı]/g, (letter) => SPELT[letter] ?? letter)
        .match(/[\p{L}\p{N}]+/gu) ?? [])
    : (text.match(/[a-zA-Z0-9]+/g) ?? []);
  return words.flatMap((word) => {
    if (unicode && UNSPACED.test(word)) return pairsIn(word, characters);
    const whole = lowered(word);
    if (!identifiers) return [whole];
    const parts = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}\p{N}]+|\p{N}+/gu) ?? [];
    if (parts.length < 2) return [whole];
    return [...parts.map(lowered).filter((part) => part.length > 1), whole];
  });
}

/** The last letter of a Greek word in capitals becomes the final form. */
const lowered = (word: string): string => word.toLowerCase().replaceAll("ς", "σ");

/**
 * How those without these letters write them, where Unicode has no decomposition.
 * @see https://www.postgresql.org/docs/current/unaccent.html, unaccent.rules
 */
const SPELT: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  ł: "l",
  Ł: "L",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "TH",
  ı: "i",
};

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function pairsIn(word: string, characters: boolean): string[] {
  const all = [...word.toLowerCase()];
  if (all.length === 1) return all;
  const pairs = all.slice(1).map((character, i) => `${all[i]}${character}`);
  return characters ? [...pairs, ...all] : pairs;
}

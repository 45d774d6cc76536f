import { B, idfOf, K1, PHRASE_BONUS } from "./bm25.ts";

/** A candidate with its score, which is greater than 0. */
export interface Ranked<T> {
  readonly item: T;
  readonly score: number;
}

const MIN_TOKEN = 3;

/** Settings of a ranking. */
export interface RankOptions {
  /** The words of a text in lower case. @default runs of at least three of `a-z0-9`, as the .NET original has them */
  readonly tokensOf?: ((text: string) => Iterable<string>) | undefined;
}

/**
 * Okapi BM25 as the .NET original's `Bm25Ranker` has it (k1 1.5, b 0.75), best first, candidates without a match left
 * out. Each pair of the query's words that stands in the raw text, joined by a blank, counts twice. Reads all
 * candidates anew at each call, and keeps of each only the counts of what is asked for.
 */
export function rankWithScores<T>(
  candidates: Iterable<T>,
  textOf: (candidate: T) => string,
  query: string,
  { tokensOf = textbookTokens }: RankOptions = {},
): Ranked<T>[] {
  const asked = [...tokensOf(query.toLowerCase())];
  if (asked.length === 0) return [];
  const words = new Set(asked);
  const phrases = new Set(asked.slice(1).map((token, i) => `${asked[i]} ${token}`));
  const documents = [...candidates].map((item) => {
    const text = textOf(item).toLowerCase();
    return {
      item,
      ...countsOf(tokensOf(text), words),
      phraseCounts: new Map([...phrases].map((phrase) => [phrase, occurrences(text, phrase)])),
    };
  });
  const averageLength = documents.reduce((sum, { length }) => sum + length, 0) / documents.length || 1;
  const scores = documents.map(() => 0);
  function add(weight: number, frequencies: readonly number[]): void {
    const idf = idfOf(documents.length, frequencies.filter((frequency) => frequency > 0).length);
    for (const [i, frequency] of frequencies.entries()) {
      const length = documents[i]?.length ?? 0;
      scores[i] =
        (scores[i] ?? 0) +
        (weight * idf * frequency * (K1 + 1)) / (frequency + K1 * (1 - B + (B * length) / averageLength));
    }
  }
  for (const term of words)
    add(
      1,
      documents.map(({ counts }) => counts.get(term) ?? 0),
    );
  for (const phrase of phrases)
    add(
      PHRASE_BONUS,
      documents.map(({ phraseCounts }) => phraseCounts.get(phrase) ?? 0),
    );
  return documents
    .map(({ item }, i) => ({ item, score: scores[i] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

/** The candidates alone, in the order of `rankWithScores`. */
export function rank<T>(candidates: Iterable<T>, textOf: (candidate: T) => string, query: string): T[] {
  return rankWithScores(candidates, textOf, query).map(({ item }) => item);
}

const textbookTokens = (text: string): string[] =>
  (text.match(/[a-z0-9]+/g) ?? []).filter((token) => token.length >= MIN_TOKEN);

/** How many words a text has, and how often each of those that are asked for. */
function countsOf(
  tokens: Iterable<string>,
  words: ReadonlySet<string>,
): { readonly length: number; readonly counts: ReadonlyMap<string, number> } {
  const counts = new Map<string, number>();
  let length = 0;
  for (const token of tokens) {
    length++;
    if (words.has(token)) counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  return { length, counts };
}

/** Counts the places where the phrase stands, without overlaps. */
function occurrences(text: string, phrase: string): number {
  let count = 0;
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + phrase.length)) count++;
  return count;
}

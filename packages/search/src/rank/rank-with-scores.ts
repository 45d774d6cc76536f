import { B, idfOf, K1, PHRASE_BONUS } from "./bm25.ts";

/** A candidate with its score, which is greater than 0. */
export interface Ranked<T> {
  readonly item: T;
  readonly score: number;
}

const MIN_TOKEN = 3;

/**
 * Okapi BM25 as the .NET original's `Bm25Ranker` has it (k1 1.5, b 0.75), best first, candidates without a match left out. Tokens are runs of at least
 * three of `a-z0-9`. Each pair of the query's tokens that stands in the raw text, joined by a blank, counts twice. Reads all candidates anew at each
 * call: `SearchIndex` does not, and knows more of words.
 */
export function rankWithScores<T>(candidates: Iterable<T>, textOf: (candidate: T) => string, query: string): Ranked<T>[] {
  const asked = textbookTokens(query);
  if (asked.length === 0) return [];
  const documents = [...candidates].map((item) => {
    const text = textOf(item).toLowerCase();
    const tokens = textbookTokens(text);
    return { item, text, length: tokens.length, counts: countsOf(tokens) };
  });
  const averageLength = documents.reduce((sum, { length }) => sum + length, 0) / documents.length || 1;
  const scores = documents.map(() => 0);
  function add(weight: number, frequencies: readonly number[]): void {
    const idf = idfOf(documents.length, frequencies.filter((frequency) => frequency > 0).length);
    for (const [i, frequency] of frequencies.entries()) {
      const length = documents[i]?.length ?? 0;
      scores[i] = (scores[i] ?? 0) + (weight * idf * frequency * (K1 + 1)) / (frequency + K1 * (1 - B + (B * length) / averageLength));
    }
  }
  for (const term of new Set(asked))
    add(
      1,
      documents.map(({ counts }) => counts.get(term) ?? 0),
    );
  for (const phrase of new Set(asked.slice(1).map((token, i) => `${asked[i]} ${token}`)))
    add(
      PHRASE_BONUS,
      documents.map(({ text }) => text.split(phrase).length - 1),
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

const textbookTokens = (text: string): string[] => (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((token) => token.length >= MIN_TOKEN);

function countsOf(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}

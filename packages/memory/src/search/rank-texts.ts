const K1 = 1.5;
const B = 0.75;

/**
 * Which of the texts fit the words, best first: Okapi BM25 (k1 1.5, b 0.75), with twice the weight for two words of the query that stand side by side.
 * Words are runs of letters and digits in lower case; those of one character count only if nothing else is asked for.
 * @returns indexes into `texts`, without those that have none of the words
 * @see Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009
 */
export function rankTexts(texts: readonly string[], query: string): number[] {
  const terms = wordsOf(query);
  const long = terms.filter((term) => term.length > 1);
  const asked = long.length > 0 ? long : terms;
  const words = new Set(asked);
  const pairs = new Set(asked.slice(1).map((term, i) => `${asked[i]} ${term}`));
  const documents = texts.map((text) => countsOf(text, words, pairs));
  const averageLength = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  const weights = [...[...words].map((term) => ({ term, weight: 1 })), ...[...pairs].map((term) => ({ term, weight: 2 }))].map(({ term, weight }) => {
    const having = documents.filter(({ counts }) => counts.has(term)).length;
    return { term, weight: weight * Math.log((documents.length - having + 0.5) / (having + 0.5) + 1) };
  });
  const scored = documents.map(({ counts, length }, index) => {
    const norm = K1 * (1 - B + (averageLength === 0 ? 1 : (B * length) / averageLength));
    const score = weights.reduce((sum, { term, weight }) => {
      const count = counts.get(term) ?? 0;
      return count === 0 ? sum : sum + (weight * count * (K1 + 1)) / (count + norm);
    }, 0);
    return { index, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ index }) => index);
}

/** How often each of the words and pairs that are asked for is in a text, and how many words that has. */
function countsOf(text: string, words: ReadonlySet<string>, pairs: ReadonlySet<string>): { counts: ReadonlyMap<string, number>; length: number } {
  const counts = new Map<string, number>();
  let length = 0;
  let previous = "";
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    length++;
    if (words.has(word)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
      const pair = `${previous} ${word}`;
      if (pairs.has(pair)) counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
    previous = word;
  }
  return { counts, length };
}

const WORD = /[\p{L}\p{N}]+/gu;

const wordsOf = (text: string): string[] => [...text.toLowerCase().matchAll(WORD)].map(([word]) => word);

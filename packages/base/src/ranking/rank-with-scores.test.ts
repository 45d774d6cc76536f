import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rank, rankWithScores } from "./rank-with-scores.ts";

const { default: okapi } = createRequire(import.meta.url)("okapibm25") as {
  default: (texts: string[], words: string[], options: { k1: number; b: number }) => number[];
};

const WORDS = ["create", "issue", "send", "message", "calendar", "query", "database", "deploy"];
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }).map((words) => words.join(" "));
const texts = fc.array(text, { minLength: 1, maxLength: 12 });
/** Questions of one word have no pairs, of which the library knows nothing. */
const word = fc.constantFrom(...WORDS);

const own = (candidates: readonly string[], query: string): number[] => {
  const scores = new Map(
    rankWithScores([...candidates.keys()], (i) => candidates[i] ?? "", query).map(({ item, score }) => [item, score]),
  );
  return candidates.map((_, i) => scores.get(i) ?? 0);
};

test("a word's scores are those of the library okapibm25", () => {
  fc.assert(
    fc.property(texts, word, (candidates, query) => {
      const expected = okapi([...candidates], [query], { k1: 1.5, b: 0.75 });
      for (const [i, score] of own(candidates, query).entries()) expect(score).toBeCloseTo(expected[i] ?? 0, 9);
    }),
  );
});

test("scores of several words and pairs are those of the formulas, written once more", () => {
  fc.assert(
    fc.property(texts, text, (candidates, query) => {
      const expected = naive(candidates, query);
      for (const [i, score] of own(candidates, query).entries()) expect(score).toBeCloseTo(expected[i] ?? 0, 9);
    }),
  );
});

test("rank gives the best first, leaves out what does not match, and keeps the order of equals", () => {
  const candidates = ["read a file", "send mail", "read mail", "send mail"].map((name, i) => ({ name, i }));
  expect(rank(candidates, ({ name }) => name, "send mail").map(({ i }) => i)).toEqual([1, 3, 2]);
  expect(rank(candidates, ({ name }) => name, "an")).toEqual([]);
});

test("a pair is looked for in the raw text, so that other characters between its words part it", () => {
  const [near = 0, parted = 0] = own(["send mail", "send_mail"], "send mail");
  expect(near).toBeGreaterThan(parted);
  expect(parted).toBeGreaterThan(0);
});

test("the caller may say what counts as a word", () => {
  const wordsOf = (text: string): Iterable<string> => text.split(" ");
  expect(rankWithScores(["a b", "an é"], String, "É", { tokensOf: wordsOf }).map(({ item }) => item)).toEqual(["an é"]);
  expect(rankWithScores(["a b", "an é"], String, "É")).toEqual([]);
});

/** Section by section as wire contract and seed have it, without any care for speed. */
function naive(candidates: readonly string[], query: string): number[] {
  const asked = query.split(" ");
  const pairs = [...new Set(asked.slice(0, -1).map((first, i) => `${first} ${asked[i + 1]}`))];
  const lengths = candidates.map((candidate) => candidate.split(" ").length);
  const average = lengths.reduce((a, b) => a + b, 0) / lengths.length;
  const times = (candidate: string, what: string): number => candidate.split(what).length - 1;
  return candidates.map((candidate, i) => {
    const part = (what: string): number => {
      const df = candidates.filter((other) => times(other, what) > 0).length;
      const f = times(candidate, what);
      return (
        Math.log((candidates.length - df + 0.5) / (df + 0.5) + 1) *
        ((f * 2.5) / (f + 1.5 * (0.25 + (0.75 * (lengths[i] ?? 0)) / average)))
      );
    };
    return (
      [...new Set(asked)].reduce((sum, term) => sum + part(term), 0) +
      2 * pairs.reduce((sum, pair) => sum + part(pair), 0)
    );
  });
}

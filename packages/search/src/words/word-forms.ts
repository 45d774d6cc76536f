import type { Extras } from "./extras.ts";
import { stem } from "./stem.ts";
import { tokenize } from "./tokenize.ts";
import { kinds, stopWords, synonymClasses } from "./word-lists.ts";

/** A word of a question: as it was written, and as it is looked up. */
export interface Word {
  readonly written: string;
  readonly term: string;
}

/** Makes of texts the terms that an index holds, and knows which other terms mean the same. */
export interface WordForms {
  words(text: string): Word[];
  /** The term of a word that is none of a text. */
  term(word: string): string;
  /** The terms of the term's classes, without itself. A blank joins a synonym of two words, as it may join the term. */
  synonyms(term: string): readonly string[];
}

/**
 * Shorter words are left out, as in the textbook, where stop words are not known. In other letters than Latin ones, a
 * single one may be a word.
 */
const MIN_LENGTH = 3;
/** A longer run of letters is no word. */
const MAX_LENGTH = 40;

export function createWordForms(extras: Extras): WordForms {
  const minLength = extras.stopWords ? 2 : MIN_LENGTH;
  const term = (word: string): string => (extras.stems && /^[a-z]{3,}$/.test(word) ? stem(word) : word);
  const isWord = (word: string): boolean =>
    word.length <= MAX_LENGTH &&
    (word.length >= minLength || /[^a-z\d]/.test(word)) &&
    !(extras.stopWords && stopWords.has(word));
  const classes = extras.synonyms ? classesOf(term) : new Map<string, readonly string[]>();
  return {
    words: (text) =>
      tokenize(text, extras).flatMap((word) => (isWord(word) ? [{ written: word, term: term(word) }] : [])),
    term,
    synonyms: (of) => classes.get(of) ?? [],
  };
}

function classesOf(term: (word: string) => string): ReadonlyMap<string, readonly string[]> {
  const together = new Map<string, Set<string>>();
  const termsOf = (words: readonly string[]): string[] => words.map((word) => word.split(" ").map(term).join(" "));
  function find(from: readonly string[], to: readonly string[]): void {
    for (const one of from) {
      const others = together.get(one) ?? new Set();
      together.set(one, others);
      for (const other of to) if (other !== one) others.add(other);
    }
  }
  for (const words of synonymClasses) find(termsOf(words), termsOf(words));
  for (const { words, kind } of kinds) find(termsOf(words), termsOf(kind));
  return new Map([...together].map(([one, others]) => [one, [...others]]));
}

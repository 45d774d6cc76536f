import { B, idfOf, K1, PHRASE_BONUS } from "@rockbot/base/ranking";
import { allExtras, type Extras } from "../words/extras.ts";
import { nearTerms } from "../words/near-terms.ts";
import { createWordForms, type Word, type WordForms } from "../words/word-forms.ts";

/** How much a word counts in each part of a document. */
export const fieldWeights = { service: 1.5, summary: 1, name: 2, description: 1, parameters: 0.7 } as const;
/** A part of a document. */
export type Field = keyof typeof fieldWeights;
/** The texts of a document, by its parts. */
export type Fields = { readonly [Name in Field]?: string | undefined };

/** A document's key with its score, which is greater than 0. */
export interface Match {
  readonly key: string;
  readonly score: number;
  /**
   * How much of the question the document has, in [0, 1]: each word counts by its rarity, and one that no document has
   * counts like the rarest.
   */
  readonly share: number;
  /** How many words of the question the document has. One that it has in a name counts twice. */
  readonly words: number;
  /**
   * What the words of the question count together. The score of a document that has all of them is about twice as much.
   */
  readonly possible: number;
}

const FIELDS = Object.keys(fieldWeights) as Field[];
const NAMES = [FIELDS.indexOf("service"), FIELDS.indexOf("name")];
/** With field weights a field's length counts less: that of a name, which has two or three words, says little. */
const FIELD_B = 0.5;
const SYNONYM_WEIGHT = 0.5;
const NEAR_WEIGHT = 0.6;
/** A description longer than this is no description. */
const MAX_FIELD_CHARS = 8_000;
/** The longest question that is read; more means no more. */
const MAX_QUERY_CHARS = 4_000;
const MAX_QUERY_TERMS = 64;

interface Document {
  readonly key: string;
  readonly terms: readonly string[];
  readonly lengths: readonly number[];
  /** How much one occurrence in each field counts: the field's weight by its length. */
  norms: readonly number[];
}

type Postings = Map<string, Map<number, number[]>>;
type Variant = readonly [term: string, weight: number];

/**
 * An inverted index with BM25 scores, kept as documents come and go. Fields are weighted before the frequency saturates
 * (BM25F). With no extras it scores as `rankWithScores` does, where words are divided by single blanks. It finds pairs
 * of adjacent words by their places, not in the raw text.
 */
export class SearchIndex {
  readonly #extras: Extras;
  readonly #forms: WordForms;
  readonly #weights: readonly number[];
  readonly #documents = new Map<string, number>();
  readonly #slots: (Document | undefined)[] = [];
  readonly #free: number[] = [];
  /** How often each document has a term in each field; the same of pairs of adjacent terms. */
  readonly #words: Postings = new Map();
  readonly #pairs: Postings = new Map();
  readonly #totals = FIELDS.map(() => 0);
  #areNormsDue = false;

  /** @param weights of fields that count otherwise here */
  constructor(extras: Partial<Extras> = {}, weights: { readonly [Name in Field]?: number } = {}) {
    this.#extras = { ...allExtras, ...extras };
    this.#weights = Object.values({ ...fieldWeights, ...weights });
    this.#forms = createWordForms(this.#extras);
  }

  get size(): number {
    return this.#documents.size;
  }

  /** What a word scores that one document has, once, in a text of average length. */
  get rarestScore(): number {
    return idfOf(this.size, 1);
  }

  /** Takes a document in, in the place of the one with the same key. */
  set(key: string, fields: Fields): void {
    this.delete(key);
    const slot = this.#free.pop() ?? this.#slots.length;
    const terms = new Set<string>();
    const lengths = FIELDS.map(() => 0);
    for (const [i, field] of FIELDS.entries()) {
      const at = this.#extras.fields ? i : 0;
      const words = this.#forms.words((fields[field] ?? "").slice(0, MAX_FIELD_CHARS));
      lengths[at] = (lengths[at] ?? 0) + words.length;
      let isPaired = false;
      for (const [place, { term }] of words.entries()) {
        this.#count(term, slot, at, terms);
        const next = words[place + 1]?.term;
        isPaired = next !== undefined && !(isPaired && term === next && term === words[place - 1]?.term); // three equal words are one pair
        if (isPaired) this.#count(`${term} ${next}`, slot, at, terms);
      }
    }
    for (const [at, length] of lengths.entries()) this.#totals[at] = (this.#totals[at] ?? 0) + length;
    this.#slots[slot] = { key, terms: [...terms], lengths, norms: [] };
    this.#documents.set(key, slot);
    this.#areNormsDue = true;
  }

  /** @returns whether it was there */
  delete(key: string): boolean {
    const slot = this.#documents.get(key);
    const document = slot === undefined ? undefined : this.#slots[slot];
    if (slot === undefined || document === undefined) return false;
    for (const term of document.terms) {
      const postings = this.#postingsOf(term);
      const posting = postings.get(term);
      posting?.delete(slot);
      if (posting?.size === 0) postings.delete(term);
    }
    for (const [at, length] of document.lengths.entries()) this.#totals[at] = (this.#totals[at] ?? 0) - length;
    this.#documents.delete(key);
    this.#slots[slot] = undefined;
    this.#free.push(slot);
    this.#areNormsDue = true;
    return true;
  }

  /** The documents that the question finds, best first; those of equal score in the order of their keys. */
  search(query: string): Match[] {
    if (this.#areNormsDue) this.#setNorms();
    const words = this.#forms.words(query.slice(0, MAX_QUERY_CHARS)).slice(0, MAX_QUERY_TERMS);
    const [scores, shares] = [new Map<number, number>(), new Map<number, Pick<Match, "share" | "words">>()];
    const distinct = new Map(words.map((word) => [word.term, word]));
    const variants = new Map([...distinct].map(([term, word]) => [term, this.#variantsOf(word)]));
    let possible = 0;
    for (const of of variants.values()) possible += this.#add(scores, 1, of, shares);
    const pairs = new Map(
      words.slice(1).map((word, i) => [`${words[i]?.term} ${word.term}`, [words[i] ?? word, word] as const]),
    );
    for (const [pair, of] of pairs) this.#add(scores, PHRASE_BONUS, this.#pairVariantsOf(pair, of, variants));
    const found = [...scores].map(([slot, score]) => {
      const { share = 0, words: count = 0 } = shares.get(slot) ?? {};
      return { key: this.#slots[slot]?.key ?? "", score, share: share / possible, words: count, possible };
    });
    return found.sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
  }

  #postingsOf(term: string): Postings {
    return term.includes(" ") ? this.#pairs : this.#words;
  }

  #count(term: string, slot: number, field: number, terms: Set<string>): void {
    const postings = this.#postingsOf(term);
    const posting = postings.get(term) ?? new Map<number, number[]>();
    const counts = posting.get(slot) ?? FIELDS.map(() => 0);
    counts[field] = (counts[field] ?? 0) + 1;
    posting.set(slot, counts);
    postings.set(term, posting);
    terms.add(term);
  }

  #setNorms(): void {
    const averages = this.#totals.map((total) => total / this.#documents.size || 1);
    const { fields } = this.#extras;
    const b = fields ? FIELD_B : B;
    for (const document of this.#slots)
      if (document !== undefined)
        document.norms = document.lengths.map(
          (length, at) => (fields ? (this.#weights[at] ?? 0) : 1) / (1 - b + (b * length) / (averages[at] ?? 1)),
        );
    this.#areNormsDue = false;
  }

  /** The terms that a word of the question finds. */
  #variantsOf({ term, written }: Word): Variant[] {
    const synonyms = this.#forms.synonyms(term);
    const isKnown = this.#words.has(term);
    const near =
      isKnown || !this.#extras.nearWords ? [] : nearTerms(written, term, this.#words, (word) => this.#forms.term(word));
    return [
      [term, 1],
      ...synonyms.map((other): Variant => [other, SYNONYM_WEIGHT]),
      ...near.map((other): Variant => [other, NEAR_WEIGHT]),
    ];
  }

  #pairVariantsOf(
    pair: string,
    [first, second]: readonly [Word, Word],
    variants: ReadonlyMap<string, readonly Variant[]>,
  ): Variant[] {
    const found: Variant[] = [[pair, 1]];
    if (this.#extras.identifiers) found.push([this.#forms.term(first.written + second.written), 1]);
    for (const synonym of this.#forms.synonyms(pair)) found.push([synonym, SYNONYM_WEIGHT]);
    const knownOf = (word: Word): Variant[] =>
      (variants.get(word.term) ?? []).filter(([term]) => this.#words.has(term));
    const others = knownOf(second);
    for (const [one, weight] of others.length === 0 ? [] : knownOf(first))
      for (const [other, otherWeight] of others)
        if (weight * otherWeight < 1) found.push([`${one} ${other}`, weight * otherWeight]);
    return found;
  }

  /**
   * Adds to each document's score what the best of the variants gives it, and to its share how rare that is.
   * @returns the most that is added to a share
   */
  #add(
    scores: Map<number, number>,
    weight: number,
    variants: readonly Variant[],
    shares?: Map<number, Pick<Match, "share" | "words">>,
  ): number {
    const own = variants[0]?.[0] ?? "";
    const most = idfOf(this.#documents.size, this.#postingsOf(own).get(own)?.size ?? 1);
    const known = variants.flatMap(([term, share]) => {
      const posting = this.#postingsOf(term).get(term);
      return posting === undefined ? [] : [[posting, share] as const];
    });
    if (known.length === 0) return most;
    const [best, rarest, named] = [new Map<number, number>(), new Map<number, number>(), new Set<number>()];
    for (const [posting, share] of known) {
      const idf = idfOf(this.#documents.size, posting.size);
      for (const [slot, counts] of posting) {
        const norms = this.#slots[slot]?.norms ?? [];
        let frequency = 0;
        for (let at = 0; at < counts.length; at++) frequency += (counts[at] ?? 0) * (norms[at] ?? 0);
        const score = (weight * share * idf * frequency * (K1 + 1)) / (frequency + K1);
        if (score > (best.get(slot) ?? 0)) best.set(slot, score);
        if (shares === undefined) continue;
        if (NAMES.some((at) => (counts[at] ?? 0) > 0)) named.add(slot);
        if (share * idf > (rarest.get(slot) ?? 0)) rarest.set(slot, Math.min(most, share * idf));
      }
    }
    for (const [slot, score] of best) scores.set(slot, (scores.get(slot) ?? 0) + score);
    for (const [slot, rarity] of rarest) {
      const { share = 0, words = 0 } = shares?.get(slot) ?? {};
      shares?.set(slot, { share: share + rarity, words: words + (named.has(slot) ? 2 : 1) });
    }
    return most;
  }
}

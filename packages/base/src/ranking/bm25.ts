/** How much a term's frequency counts before it saturates. */
export const K1 = 1.5;
/** How much a document's length counts. */
export const B = 0.75;
/** A pair of adjacent words counts this many times what a word of the same frequency does. */
export const PHRASE_BONUS = 2;

/**
 * @see Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; + 1 as in Lucene, so
 * that none is negative
 */
export const idfOf = (documents: number, frequency: number): number =>
  Math.log((documents - frequency + 0.5) / (frequency + 0.5) + 1);

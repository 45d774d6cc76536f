/** Additions to the textbook. Each can be switched off by itself. */
export interface Extras {
  /** Words of every script, without accents, of two characters or more. Else runs of at least three of `a-z0-9`. */
  readonly unicode: boolean;
  /** The parts of identifiers as words: `createIssue`, `oauth2`. */
  readonly identifiers: boolean;
  /** Words that only say how somebody asks are left out. */
  readonly stopWords: boolean;
  /** Words without their endings, by Porter's algorithm. */
  readonly stems: boolean;
  /** A word of the question also finds others of the same meaning, with less weight. */
  readonly synonyms: boolean;
  /** A word that no document has finds those that are written nearly so, that begin so, or that it is joined of. */
  readonly nearWords: boolean;
  /** A word in a tool's name says more than one in a description. Else all fields are one text. */
  readonly fields: boolean;
}

/** All of them, as an index has them by default. */
export const allExtras: Extras = {
  unicode: true,
  identifiers: true,
  stopWords: true,
  stems: true,
  synonyms: true,
  nearWords: true,
  fields: true,
};
/** None: the textbook. */
export const noExtras: Extras = {
  unicode: false,
  identifiers: false,
  stopWords: false,
  stems: false,
  synonyms: false,
  nearWords: false,
  fields: false,
};

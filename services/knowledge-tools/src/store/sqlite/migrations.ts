/**
 * Step n migrates the database from version n to n + 1. A step that was released never changes.
 *
 * `item_words` holds no texts but the terms of items: its tokens are ours, written in letters that its tokenizer leaves
 * as they are. `words_of` and `facets_of` are functions of the store, which make them.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE item (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    author TEXT NOT NULL,
    categories TEXT NOT NULL,
    tags TEXT NOT NULL,
    owner TEXT NOT NULL,
    space TEXT,
    origin TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX item_owner ON item (owner);
  CREATE TABLE label (
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    folded TEXT NOT NULL,
    name TEXT NOT NULL,
    items INTEGER NOT NULL,
    PRIMARY KEY (scope, kind, folded)
  ) STRICT, WITHOUT ROWID;
  CREATE VIRTUAL TABLE item_words USING fts5 (title, body, facets, content = '', contentless_delete = 1, tokenize = 'ascii');
  `,
  // Terms are made otherwise since: ß is ss, and a character of a script without blanks is found by itself.
  `
  INSERT INTO item_words (item_words) VALUES ('delete-all');
  INSERT INTO item_words (rowid, title, body, facets)
    SELECT seq, words_of(title), words_of(body), facets_of(kind, author, categories, tags, owner, space) FROM item;
  `,
];

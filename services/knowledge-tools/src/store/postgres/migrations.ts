import type { PostgresClient } from "@rockbot/records/postgres";
import { vectorOf } from "./text-vectors.ts";

const PAGE = 200;

/** Step n migrates the tables from version n to n + 1. A step that was released never changes. */
export const migrations: readonly (string | ((client: PostgresClient) => Promise<void>))[] = [
  `
  CREATE TABLE knowledge_item (
    seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text PRIMARY KEY,
    kind text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    author text NOT NULL,
    categories text[] NOT NULL,
    tags text[] NOT NULL,
    owner text NOT NULL,
    space text,
    origin text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    words tsvector NOT NULL,
    facets text[] NOT NULL
  );
  CREATE INDEX knowledge_item_owner ON knowledge_item (owner);
  CREATE INDEX knowledge_item_words ON knowledge_item USING gin (words) WITH (fastupdate = off);
  CREATE INDEX knowledge_item_facets ON knowledge_item USING gin (facets) WITH (fastupdate = off);
  CREATE TABLE knowledge_label (
    scope text NOT NULL,
    kind text NOT NULL,
    folded text NOT NULL,
    name text NOT NULL,
    items bigint NOT NULL,
    PRIMARY KEY (scope, kind, folded)
  );
  `,
  makeWordsAnew,
];

/** Terms are made otherwise since: ß is ss, and a character of a script without blanks is found by itself. */
async function makeWordsAnew(client: PostgresClient): Promise<void> {
  for (let last = "0"; ; ) {
    const { rows } = await client.query(
      "SELECT seq, title, body FROM knowledge_item WHERE seq > $1 ORDER BY seq LIMIT $2",
      [last, PAGE],
    );
    for (const { seq, title, body } of rows)
      await client.query("UPDATE knowledge_item SET words = $2::tsvector WHERE seq = $1", [
        seq,
        vectorOf({ title, body }),
      ]);
    if (rows.length < PAGE) return;
    last = String(rows.at(-1)?.seq);
  }
}

import {
  connectPostgres,
  type PostgresClient,
  type PostgresDatabase,
  type PostgresRow,
} from "@rockbot/records/postgres";
import { facetsOf } from "../../item/facets.ts";
import type { KnowledgeItem } from "../../item/knowledge-item.ts";
import {
  type ConnectStoreOptions,
  type KnowledgeStore,
  LABELS_LOOKED_AT,
  type Label,
  type LabelQuery,
  levelsOf,
  MAX_RANKED,
  type MatchQuery,
  type Saved,
} from "../knowledge-store.ts";
import { type LabelChange, LabelChanges, mergeItem } from "../merge-item.ts";
import { migrations } from "./migrations.ts";
import { queryOf, vectorOf } from "./text-vectors.ts";

/** After so many changes the store updates the planner's statistics; after fewer the database does that by itself. */
const MANY = 1_000;
/** Items that are read or written at once. */
const PAGE = 200;
/** Its number is of no meaning. */
const MIGRATION_LOCK = 7_206_113;
/**
 * The planner takes reading words for as cheap as reading numbers, and would go through all items where an index tells.
 */
const PLANNER = "-c enable_seqscan=off -c jit=off";
const WEIGHTS = "{0.1, 0.1, 0.1, 1.0}";

/**
 * Keeps items in a PostgreSQL database, for any number of instances. Words are ranked by `ts_rank_cd`.
 * @param url `postgres://user:password@host/database`
 * @throws {StoreUnavailableError} if the database cannot be reached, or newer code made its tables
 */
export async function connectPostgresStore(url: string, options: ConnectStoreOptions = {}): Promise<KnowledgeStore> {
  const schema = { holds: "the knowledge", versionTable: "knowledge_version", lock: MIGRATION_LOCK, migrations };
  return new PostgresStore(await connectPostgres(url, schema, { ...options, settings: PLANNER }));
}

class PostgresStore implements KnowledgeStore {
  readonly where: string;
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.where = database.where;
  }

  async match({ terms, facets, limit }: MatchQuery): Promise<readonly string[]> {
    const groups = facets.map((_, i) => `facets && $${i + 4}`);
    // The words themselves lie apart from the rows, and are read of the newest only.
    const sql = `WITH newest AS (SELECT seq FROM (${newestFirst(["words @@ $1::tsquery", ...groups])}) AS found LIMIT ${MAX_RANKED})
      SELECT id FROM newest JOIN knowledge_item USING (seq) ORDER BY ts_rank_cd('${WEIGHTS}', words, $1::tsquery) DESC, seq DESC LIMIT $3`;
    const [last] = await this.#database.query("search", "SELECT coalesce(max(seq), 0) AS seq FROM knowledge_item", []);
    const ids = new Set<string>();
    for (const atLeast of levelsOf(terms.length)) {
      if (ids.size >= limit) break;
      for (const { id } of await this.#database.query("search", sql, [
        queryOf(terms, atLeast),
        last?.["seq"],
        limit,
        ...facets,
      ]))
        ids.add(String(id));
    }
    return [...ids].slice(0, limit);
  }

  async get(ids: readonly string[]): Promise<readonly KnowledgeItem[]> {
    const rows = await this.#database.query("read", "SELECT * FROM knowledge_item WHERE id = ANY($1)", [
      ids.slice(0, MAX_RANKED),
    ]);
    const items = new Map(rows.map((row) => [String(row["id"]), itemOf(row)]));
    return ids.flatMap((id) => items.get(id) ?? []);
  }

  save(items: AsyncIterable<KnowledgeItem> | Iterable<KnowledgeItem>): Promise<Saved> {
    return this.#database.inTransaction("save", async (client) => {
      const labels = new LabelChanges();
      const saved = { created: 0, changed: 0, unchanged: 0 };
      for await (const page of pagesOf(items)) await savePage(client, page, { labels, saved });
      await saveLabels(client, labels.take());
      if (saved.created + saved.changed >= MANY) await client.query("ANALYZE knowledge_item");
      return saved;
    });
  }

  async labels({
    kind,
    scopes,
    folded = null,
    areOurs = false,
    limit,
  }: { readonly folded?: LabelQuery["folded"] | null } & Omit<LabelQuery, "folded">): Promise<readonly Label[]> {
    const rows = await this.#database.query(
      "read",
      `SELECT folded, name FROM (
         SELECT folded, min(name) AS name, sum(items) AS items FROM knowledge_label
         WHERE kind = $1 AND scope = ANY($2) AND ($3::text[] IS NULL OR folded = ANY($3))
         GROUP BY folded ORDER BY items DESC, folded COLLATE "C" LIMIT $5
       ) AS label
       WHERE NOT $4 OR EXISTS (
         SELECT FROM knowledge_item WHERE facets @> ARRAY[$1 || ':' || label.folded] AND facets && $2 AND origin IS NULL
       )
       ORDER BY items DESC, folded COLLATE "C" LIMIT $6`,
      [kind, scopes, folded, areOurs, areOurs ? LABELS_LOOKED_AT * limit : limit, limit],
    );
    return rows.map((row) => ({ name: String(row["name"]), folded: String(row["folded"]) }));
  }

  async countOf(owner: string): Promise<{ items: number; bytes: number }> {
    // The length of a long text is read without the text.
    const bytes = "octet_length(title) + octet_length(body) + octet_length(array_to_string(categories || tags, ''))";
    const sql = `SELECT count(*) AS items, coalesce(sum(${bytes}), 0) AS bytes FROM knowledge_item WHERE owner = $1`;
    const [row] = await this.#database.query("read", sql, [owner]);
    return { items: Number(row?.["items"]), bytes: Number(row?.["bytes"]) };
  }

  async *all(): AsyncIterable<KnowledgeItem> {
    for (let last = ""; ; ) {
      const rows = await this.#database.query(
        "read",
        `SELECT * FROM knowledge_item WHERE id COLLATE "C" > $1 ORDER BY id COLLATE "C" LIMIT $2`,
        [last, PAGE],
      );
      yield* rows.map(itemOf);
      if (rows.length < PAGE) return;
      last = String(rows.at(-1)?.["id"]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }
}

/**
 * How many of the newest items are looked through first, and then, before all others. Most questions of common words
 * end there.
 */
const WINDOWS = [8 * MAX_RANKED, 64 * MAX_RANKED];

/**
 * Numbers of items, newest first, by one window after the other. $2 is the newest number of all: as a value, the
 * planner counts with it.
 */
function newestFirst(conditions: readonly string[]): string {
  const since = WINDOWS.map((items) => `seq > $2::bigint - ${items}`);
  const before = WINDOWS.map((items) => `seq <= $2::bigint - ${items}`);
  const parts = [...WINDOWS, 0].map((_, i) =>
    [...conditions, ...since.slice(i, i + 1), ...before.slice(Math.max(i - 1, 0), i)].join(" AND "),
  );
  return parts
    .map((condition) => `(SELECT seq FROM knowledge_item WHERE ${condition} ORDER BY seq DESC)`)
    .join(" UNION ALL ");
}

interface Saving {
  readonly labels: LabelChanges;
  readonly saved: { created: number; changed: number; unchanged: number };
}

const COLUMNS =
  "id, kind, title, body, author, categories, tags, owner, space, origin, created_at, updated_at, words, facets";
const PLACES = COLUMNS.split(", ").map((name, i) => (name === "words" ? `$${i + 1}::tsvector` : `$${i + 1}`));

async function savePage(
  client: PostgresClient,
  page: readonly KnowledgeItem[],
  { labels, saved }: Saving,
): Promise<void> {
  const ids = [...new Set(page.map(({ id }) => id))].sort();
  const { rows } = await client.query(
    'SELECT * FROM knowledge_item WHERE id = ANY($1) ORDER BY id COLLATE "C" FOR UPDATE',
    [ids],
  );
  const known = new Map(rows.map((row) => [String(row.id), itemOf(row)]));
  const kept = new Map<string, KnowledgeItem>();
  for (const item of page) {
    const before = kept.get(item.id) ?? known.get(item.id);
    const merged = mergeItem(before, item);
    if (merged !== undefined) {
      labels.replace(before, merged);
      kept.set(item.id, merged);
    }
    saved[merged === undefined ? "unchanged" : before === undefined ? "created" : "changed"]++;
  }
  if (kept.size === 0) return;
  // A changed item is the newest one.
  await client.query("DELETE FROM knowledge_item WHERE id = ANY($1)", [[...kept.keys()].filter((id) => known.has(id))]);
  for (const item of kept.values()) {
    const {
      id,
      kind,
      title,
      body,
      author,
      categories,
      tags,
      owner,
      space = null,
      origin = null,
      createdAt,
      updatedAt,
    } = item;
    const values = [
      id,
      kind,
      title,
      body,
      author,
      categories,
      tags,
      owner,
      space,
      origin,
      createdAt,
      updatedAt,
      vectorOf(item),
      facetsOf(item),
    ];
    await client.query({
      name: "insert-item",
      text: `INSERT INTO knowledge_item (${COLUMNS}) VALUES (${PLACES.join(", ")})`,
      values,
    });
  }
}

/** Last of all, as others that save items of the same labels wait from here on. */
async function saveLabels(client: PostgresClient, changes: readonly LabelChange[]): Promise<void> {
  const columns = (["scope", "kind", "folded", "name", "by"] as const).map((name) =>
    changes.map((change) => change[name]),
  );
  await client.query(
    `INSERT INTO knowledge_label (scope, kind, folded, name, items) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
     ON CONFLICT (scope, kind, folded) DO UPDATE SET items = knowledge_label.items + excluded.items`,
    columns,
  );
  if (changes.some(({ by }) => by < 0))
    await client.query("DELETE FROM knowledge_label WHERE items <= 0 AND scope = ANY($1)", [[...new Set(columns[0])]]);
}

async function* pagesOf(
  items: AsyncIterable<KnowledgeItem> | Iterable<KnowledgeItem>,
): AsyncGenerator<readonly KnowledgeItem[]> {
  let page: KnowledgeItem[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function itemOf(row: PostgresRow): KnowledgeItem {
  const text = (name: string): string => row[name] as string;
  return {
    id: text("id"),
    kind: text("kind"),
    title: text("title"),
    body: text("body"),
    author: text("author"),
    categories: row["categories"] as string[],
    tags: row["tags"] as string[],
    owner: text("owner"),
    space: (row["space"] as string | null) ?? undefined,
    origin: (row["origin"] as string | null) ?? undefined,
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
  };
}

import { join } from "node:path";
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { StoreUnavailableError } from "@rockbot/records";
import { inTransaction, openDatabase, unavailable } from "@rockbot/records/sqlite";
import { facet, facetsOf } from "../../item/facets.ts";
import type { KnowledgeItem } from "../../item/knowledge-item.ts";
import { termsOf } from "../../text/terms.ts";
import {
  type KnowledgeStore,
  LABELS_LOOKED_AT,
  type Label,
  type LabelQuery,
  levelsOf,
  MAX_RANKED,
  type MatchQuery,
  type Saved,
} from "../knowledge-store.ts";
import { LabelChanges, mergeItem } from "../merge-item.ts";
import { migrations } from "./migrations.ts";

export interface OpenSqliteStoreOptions {
  /** How long a change waits for others. @default 10_000 */
  readonly busyTimeoutMs?: number | undefined;
}

/** How much a word counts in each column of `item_words`; facets filter only. */
const WEIGHTS = "10.0, 1.0, 0.0";
const FILE = "knowledge.db";
/** Items that are read at once when all are. */
const PAGE = 200;

/**
 * Keeps items in a file of the folder, which several processes may use at once. Words are ranked by BM25.
 * @throws {StoreUnavailableError} if the file cannot be opened
 */
export async function openSqliteStore(
  folder: string,
  { busyTimeoutMs = 10_000 }: OpenSqliteStoreOptions = {},
): Promise<KnowledgeStore> {
  const file = join(folder, FILE);
  const options = { holds: "the knowledge", migrations, functions, busyTimeoutMs };
  const writer = await openDatabase(file, options);
  return new SqliteStore(file, { writer, reader: await openDatabase(file, options), busyTimeoutMs });
}

interface Connections {
  /** Reads see what was committed, also while a long import goes on. */
  readonly reader: DatabaseSync;
  readonly writer: DatabaseSync;
  readonly busyTimeoutMs: number;
}

class SqliteStore implements KnowledgeStore {
  readonly where: string;
  readonly #reader: DatabaseSync;
  readonly #writer: DatabaseSync;
  readonly #busyTimeoutMs: number;
  readonly #statements = new Map<string, StatementSync>();
  /** One change after the other, as a connection has one transaction. */
  #writing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(file: string, { reader, writer, busyTimeoutMs }: Connections) {
    this.where = `the file ${file}`;
    this.#reader = reader;
    this.#writer = writer;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  async match({ terms, facets, limit }: MatchQuery): Promise<readonly string[]> {
    return this.#read("search", () => {
      const filter = facets.map((group) => ` AND {facets} : (${group.map(facetToken).join(" OR ")})`).join("");
      const newest = this.#prepared(
        "SELECT rowid AS seq FROM item_words WHERE item_words MATCH ? ORDER BY rowid DESC LIMIT ?",
      );
      const levels = new Map<number, number>();
      for (const atLeast of levelsOf(terms.length)) {
        if (levels.size >= limit) break;
        for (const { seq } of newest.all(`(${wordsExpression(terms, atLeast)})${filter}`, MAX_RANKED))
          if (!levels.has(Number(seq))) levels.set(Number(seq), atLeast);
      }
      const ranked = this.#ranked(terms, [...levels.keys()]).map(({ seq, score }) => ({
        seq,
        score,
        level: levels.get(seq) ?? 0,
      }));
      ranked.sort((one, other) => other.level - one.level || one.score - other.score || other.seq - one.seq);
      const best = JSON.stringify(ranked.slice(0, limit).map(({ seq }) => seq));
      return this.#prepared(
        "SELECT item.id AS id FROM json_each(?) AS best JOIN item ON item.seq = best.value ORDER BY best.key",
      )
        .all(best)
        .map(({ id }) => String(id));
    });
  }

  async get(ids: readonly string[]): Promise<readonly KnowledgeItem[]> {
    return this.#read("read", () => {
      const rows = this.#prepared("SELECT * FROM item WHERE id IN (SELECT value FROM json_each(?))").all(
        JSON.stringify(ids.slice(0, MAX_RANKED)),
      );
      const items = new Map(rows.map((row) => [String(row["id"]), itemOf(row)]));
      return ids.flatMap((id) => items.get(id) ?? []);
    });
  }

  save(items: AsyncIterable<KnowledgeItem> | Iterable<KnowledgeItem>): Promise<Saved> {
    const saving = this.#writing.then(async () => {
      try {
        this.#check();
        return await inTransaction(this.#writer, this.#busyTimeoutMs, () => this.#saveAll(items));
      } catch (error) {
        throw unavailable(`save to ${this.where}`, error);
      }
    });
    this.#writing = saving.catch(() => {});
    return saving;
  }

  async labels({ kind, scopes, folded, areOurs = false, limit }: LabelQuery): Promise<readonly Label[]> {
    return this.#read("read", () => {
      const only = folded === undefined ? "" : "AND folded IN (SELECT value FROM json_each(?))";
      const rows = this.#prepared(
        `SELECT folded, min(name) AS name FROM label WHERE kind = ? AND scope IN (SELECT value FROM json_each(?)) ${only}
         GROUP BY folded ORDER BY sum(items) DESC, folded LIMIT ?`,
      ).all(
        kind,
        JSON.stringify(scopes),
        ...(folded === undefined ? [] : [JSON.stringify(folded)]),
        areOurs ? LABELS_LOOKED_AT * limit : limit,
      );
      const labels = rows.map((row) => ({ name: String(row["name"]), folded: String(row["folded"]) }));
      if (!areOurs || scopes.length === 0) return labels;
      const own = this.#prepared(
        "SELECT 1 FROM item_words JOIN item ON item.seq = item_words.rowid WHERE item_words MATCH ? AND item.origin IS NULL LIMIT 1",
      );
      const visible = `{facets} : (${scopes.map(facetToken).join(" OR ")})`;
      return labels
        .filter(
          (label) => own.get(`{facets} : (${facetToken(facet(kind, label.folded))}) AND ${visible}`) !== undefined,
        )
        .slice(0, limit);
    });
  }

  async countOf(owner: string): Promise<{ items: number; bytes: number }> {
    // The length of a long text is read without the text.
    const names = "(SELECT sum(octet_length(value)) FROM json_each(%))";
    const bytes = [
      "octet_length(title)",
      "octet_length(body)",
      ...["categories", "tags"].map((column) => `coalesce(${names.replace("%", column)}, 0)`),
    ];
    const sql = `SELECT count(*) AS items, coalesce(sum(${bytes.join(" + ")}), 0) AS bytes FROM item WHERE owner = ?`;
    const counted = this.#read("read", () => this.#prepared(sql).get(owner));
    return { items: Number(counted?.["items"]), bytes: Number(counted?.["bytes"]) };
  }

  async *all(): AsyncIterable<KnowledgeItem> {
    for (let last = ""; ; ) {
      const rows = this.#read("read", () =>
        this.#prepared("SELECT * FROM item WHERE id > ? ORDER BY id LIMIT ?").all(last, PAGE),
      );
      yield* rows.map(itemOf);
      if (rows.length < PAGE) return;
      last = String(rows.at(-1)?.["id"]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#statements.clear();
    this.#reader.close();
    this.#writer.close();
  }

  async #saveAll(items: AsyncIterable<KnowledgeItem> | Iterable<KnowledgeItem>): Promise<Saved> {
    const db = this.#writer;
    const find = db.prepare("SELECT * FROM item WHERE id = ?");
    const remove = db.prepare("DELETE FROM item WHERE seq = ?");
    const removeWords = db.prepare("DELETE FROM item_words WHERE rowid = ?");
    const insert = db.prepare(
      `INSERT INTO item (id, kind, title, body, author, categories, tags, owner, space, origin, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const insertWords = db.prepare("INSERT INTO item_words (rowid, title, body, facets) VALUES (?, ?, ?, ?)");
    const labels = new LabelChanges();
    const saved = { created: 0, changed: 0, unchanged: 0 };
    for await (const item of items) {
      const row = find.get(item.id);
      const known = row === undefined ? undefined : itemOf(row);
      const kept = mergeItem(known, item);
      if (kept === undefined) {
        saved.unchanged++;
        continue;
      }
      if (row !== undefined) {
        const seq = row["seq"] as number;
        remove.run(seq);
        removeWords.run(seq);
      }
      const { id, kind, title, body, author, categories, tags, owner, space, origin, createdAt, updatedAt } = kept;
      const lists = [JSON.stringify(categories), JSON.stringify(tags)];
      const { lastInsertRowid } = insert.run(
        id,
        kind,
        title,
        body,
        author,
        ...lists,
        owner,
        space ?? null,
        origin ?? null,
        createdAt,
        updatedAt,
      );
      insertWords.run(lastInsertRowid, wordTokens(title), wordTokens(body), facetTokens(kept));
      labels.replace(known, kept);
      saved[known === undefined ? "created" : "changed"]++;
    }
    const count = db.prepare(
      "INSERT INTO label (scope, kind, folded, name, items) VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, kind, folded) DO UPDATE SET items = items + excluded.items",
    );
    const changes = labels.take();
    for (const { scope, kind, folded, name, by } of changes) count.run(scope, kind, folded, name, by);
    if (changes.some(({ by }) => by < 0)) db.exec("DELETE FROM label WHERE items <= 0");
    return saved;
  }

  /**
   * The scores of items, the best is the least. All are ranked at once and by words alone, as BM25 counts the frequency
   * of each word anew for each question, and would count that of each facet.
   */
  #ranked(terms: readonly string[], found: readonly number[]): { readonly seq: number; readonly score: number }[] {
    if (found.length === 0) return [];
    const rows = this.#prepared(
      `SELECT rowid AS seq, bm25(item_words, ${WEIGHTS}) AS score FROM item_words
       WHERE item_words MATCH ? AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))`,
    ).all(wordsExpression(terms, 1), Math.min(...found), Math.max(...found), JSON.stringify(found));
    return rows.map(({ seq, score }) => ({ seq: Number(seq), score: Number(score) }));
  }

  /** @throws {StoreUnavailableError} */
  #read<T>(what: string, look: () => T): T {
    try {
      this.#check();
      return look();
    } catch (error) {
      throw unavailable(`${what} in ${this.where}`, error);
    }
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#reader.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #check(): void {
    if (this.#isClosed) throw new StoreUnavailableError(`Cannot use ${this.where}: it is closed`);
  }
}

/** All of the terms, all but one, or any. */
function wordsExpression(terms: readonly string[], atLeast: number): string {
  const tokens = terms.map(termToken);
  if (atLeast >= tokens.length) return tokens.join(" AND ");
  if (atLeast <= 1) return tokens.join(" OR ");
  return tokens.map((_, left) => `(${tokens.filter((_, i) => i !== left).join(" AND ")})`).join(" OR ");
}

const wordTokens = (text: string): string => termsOf(text).map(tokenOf).join(" ");
/**
 * In quotes, so that no term is a word of the query language. A term that may be a facet's token is looked for in texts
 * alone. The others are looked for in all columns, as this takes a fifth less time.
 */
const termToken = (term: string): string => `${FACET_TOKEN.test(term) ? "{title body} : " : ""}"${tokenOf(term)}"`;
const facetToken = (facet: string): string => `f${Buffer.from(facet).toString("hex")}`;
const facetTokens = (item: Parameters<typeof facetsOf>[0]): string => facetsOf(item).map(facetToken).join(" ");
const FACET_TOKEN = /^f([0-9a-f]{2})+$/;
const tokenOf = (term: string): string => (/^[a-z0-9]+$/.test(term) ? term : `0x${Buffer.from(term).toString("hex")}`);

/** What migrations make the words of items by. */
const functions = {
  words_of: (text: string | null) => wordTokens(text ?? ""),
  facets_of: (...[kind, author, categories, tags, owner, space]: (string | null)[]) =>
    facetTokens({
      kind: kind ?? "",
      author: author ?? "",
      categories: JSON.parse(categories ?? "[]") as string[],
      tags: JSON.parse(tags ?? "[]") as string[],
      owner: owner ?? "",
      space: space ?? undefined,
    }),
};

function itemOf(row: Readonly<Record<string, SQLOutputValue>>): KnowledgeItem {
  const text = (name: string): string => row[name] as string;
  const list = (name: string): string[] => JSON.parse(text(name)) as string[];
  return {
    id: text("id"),
    kind: text("kind"),
    title: text("title"),
    body: text("body"),
    author: text("author"),
    categories: list("categories"),
    tags: list("tags"),
    owner: text("owner"),
    space: (row["space"] as string | null) ?? undefined,
    origin: (row["origin"] as string | null) ?? undefined,
    createdAt: row["created_at"] as number,
    updatedAt: row["updated_at"] as number,
  };
}

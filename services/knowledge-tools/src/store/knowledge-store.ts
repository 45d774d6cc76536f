import type { KnowledgeItem } from "../item/knowledge-item.ts";

/** What items are looked for. */
export interface MatchQuery {
  /** Different from each other, at least one. */
  readonly terms: readonly string[];
  /** An item has one facet of each group. */
  readonly facets: readonly (readonly string[])[];
  readonly limit: number;
}

/** A name that items have, as it was first written. */
export interface Label {
  readonly name: string;
  readonly folded: string;
}

/** Which labels are asked for. */
export interface LabelQuery {
  readonly kind: "author" | "category";
  /** Looks only at items that have one of these facets. */
  readonly scopes: readonly string[];
  /** Only these. @default all */
  readonly folded?: readonly string[] | undefined;
  /** Only those that an item has which strangers had no part in, of the first of all. @default false */
  readonly areOurs?: boolean | undefined;
  readonly limit: number;
}

/** So many times the labels that are asked for are looked at for such an item. */
export const LABELS_LOOKED_AT = 4;

/** What became of items that were saved. */
export interface Saved {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** If more items match, only the newest are ranked: so a question of common words takes no longer than others. */
export const MAX_RANKED = 500;

/** How many of so many terms items have that come first, second and third. */
export const levelsOf = (terms: number): readonly number[] => [...new Set([terms, Math.max(terms - 1, 1), 1])];

/**
 * Keeps items and finds them. All instances see a change once it is saved. A change is there in full or not at all,
 * also if its process is killed. Every method throws StoreUnavailableError if the database is away.
 */
export interface KnowledgeStore extends AsyncDisposable {
  /** The place of the store in words for an operator, without secrets. */
  readonly where: string;
  /**
   * The ids of items that match: those with all terms first, then those with all but one, then those with any. Each of
   * these goes best first, and newest first.
   */
  match(query: MatchQuery): Promise<readonly string[]>;
  /** The existing items, in the order asked for: of the first 500 ids. */
  get(ids: readonly string[]): Promise<readonly KnowledgeItem[]>;
  /**
   * Saves all of them at once, or none. An item that there is keeps the time when it was made, and the place that it
   * was read at.
   * @throws {OtherOwnerError} if another caller owns one
   */
  save(items: AsyncIterable<KnowledgeItem> | Iterable<KnowledgeItem>): Promise<Saved>;
  /** Lists the labels, the most frequent first, then by name. */
  labels(query: LabelQuery): Promise<readonly Label[]>;
  /** How many items a caller owns, and how many bytes they have: see `bytesOf`. */
  countOf(owner: string): Promise<{ readonly items: number; readonly bytes: number }>;
  /** All items, by id. */
  all(): AsyncIterable<KnowledgeItem>;
}

/** All that is long of an item. */
export const bytesOf = ({ title, body, categories, tags }: KnowledgeItem): number =>
  [title, body, ...categories, ...tags].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** An item belongs to another caller. */
export class OtherOwnerError extends Error {
  override readonly name = "OtherOwnerError";
  readonly id: string;

  constructor(id: string) {
    super(`Cannot save the item ${JSON.stringify(id)}: another caller owns it`);
    this.id = id;
  }
}

export interface ConnectStoreOptions {
  /** Connections at most. @default 8 */
  readonly maxConnections?: number | undefined;
  /** How long a connection, or a question to the database, may take. @default 10_000 */
  readonly timeoutMs?: number | undefined;
}

/** Connects to a database that several machines share. @throws {StoreUnavailableError} */
export type ConnectStore = (url: string, options?: ConnectStoreOptions) => Promise<KnowledgeStore>;

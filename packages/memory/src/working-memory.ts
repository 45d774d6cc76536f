/**
 * The working memory of a process, or of all that share a Redis: texts that sessions keep for a while. Each owner has
 * its own.
 */
export interface WorkingMemory extends AsyncDisposable {
  /** The memory of one owner, the effective caller. No other owner can reach it. */
  of(owner: string): OwnedMemory;
}

/**
 * The memory of one owner. Keys are whole, such as `session/abc/notes`, and case matters in them. The first two
 * segments of a key are its namespace. An entry is there until it expires, or is deleted: the memory drops none to make
 * room.
 *
 * Every operation ends: one in Redis within 500 ms for each MiB that it moves.
 * @throws {StoreUnavailableError} from each, if the store does not answer in time, refuses, or is closed: then nothing
 * is known
 * @throws {RangeError} from each, for a key or an option beyond its bound
 */
export interface OwnedMemory {
  /**
   * Keeps a text, in place of the one under that key.
   * @returns the version of the entry
   * @throws {MemoryFullError} if that would exceed a bound; then all is as before
   * @throws {MemoryChangedError} if the entry has not the version that `ifVersion` names; then all is as before
   */
  set(key: string, value: string, options?: SetOptions): Promise<string>;
  /** Keeps several texts, or none of them where that would exceed a bound. @throws as `set` */
  setAll(entries: readonly NewEntry[], options?: KeepOptions): Promise<void>;
  get(key: string): Promise<MemoryEntry | undefined>;
  /**
   * A part of a text: `length` characters from `offset` on, fewer where the text ends. A pair of surrogates is never
   * cut at the end of the part.
   */
  read(
    key: string,
    range?: { readonly offset?: number | undefined; readonly length?: number | undefined },
  ): Promise<MemoryPart | undefined>;
  /** The places of a text where another stands. */
  find(key: string, query: FindQuery): Promise<MemoryFindings | undefined>;
  /** @returns whether it was there */
  delete(key: string): Promise<boolean>;
  /** The entries whose keys begin so, by key. */
  list(prefix: string): Promise<readonly MemoryEntryInfo[]>;
  /**
   * Finds the entries that fit, the best first; without words the newest first. Words are looked for in all keys, and
   * in the newest 16 Mi characters of values.
   */
  search(query: SearchQuery): Promise<readonly MemoryHit[]>;
}

/** How an entry is kept. */
export interface KeepOptions {
  /** The time to live, from 1 ms to 24 hours. @default 300_000 */
  readonly ttlMs?: number | undefined;
  /** A group, such as `research` or `research/prices`. At most 64 characters. */
  readonly category?: string | undefined;
  /** The tags: at most 20 of 64 characters. */
  readonly tags?: readonly string[] | undefined;
  /** True if the text is a stranger's, or made from one. @default false */
  readonly isUntrusted?: boolean | undefined;
  /** True if an operator has approved a stranger's definitions. @default false */
  readonly isApproved?: boolean | undefined;
  /** Where the text comes from, such as a URL. At most 2048 characters. */
  readonly origin?: string | undefined;
  /**
   * A part of a result that was too large for a model. Parts have a bound of their own, so that they take no room from
   * saved entries.
   * @default false
   */
  readonly isChunk?: boolean | undefined;
}

/** How an entry is kept, and on which condition. */
export interface SetOptions extends KeepOptions {
  /** The entry must have this version; null: there must be none. @default whatever there is */
  readonly ifVersion?: string | null | undefined;
}

/** A text that is to be kept. */
export interface NewEntry {
  readonly key: string;
  readonly value: string;
}

/** The facts of an entry without its text. */
export interface MemoryEntryInfo {
  readonly key: string;
  /** Names this writing of the entry: no other writing of any entry has it. */
  readonly version: string;
  /** The length of the text in characters, as JavaScript counts them. */
  readonly length: number;
  /** The time of saving, in Unix milliseconds. */
  readonly storedAt: number;
  /** The end of its life, in Unix milliseconds. */
  readonly expiresAt: number;
  readonly category?: string;
  readonly tags: readonly string[];
  readonly isUntrusted: boolean;
  readonly isApproved?: boolean;
  readonly origin?: string;
  readonly isChunk: boolean;
}

/** An entry with its text. */
export interface MemoryEntry extends MemoryEntryInfo {
  readonly value: string;
}

/** A part of an entry's text. */
export interface MemoryPart extends MemoryEntryInfo {
  readonly text: string;
  readonly offset: number;
  /** Where the next part begins; undefined at the end. */
  readonly nextOffset: number | undefined;
}

/** A text to look for in an entry. */
export interface FindQuery {
  /** Plain text of 1 to 256 characters. Case does not matter. */
  readonly text: string;
  /** Matches to pass over. @default 0 */
  readonly skip?: number | undefined;
  /** Matches to give, from 1 to 1000. @default 20 */
  readonly limit?: number | undefined;
  /** Lines before and after each match, up to 20. @default 2 */
  readonly contextLines?: number | undefined;
}

/** The places that were found in one text. */
export interface MemoryFindings extends MemoryEntryInfo {
  readonly matches: readonly FoundPlace[];
  /** The matches that there are. */
  readonly total: number;
  /** The lines that the text has. */
  readonly lines: number;
}

/** A place in a text where another stands. */
export interface FoundPlace {
  /** The line, counted from 1. */
  readonly line: number;
  /** Where it begins, in characters of the whole text. */
  readonly offset: number;
  /**
   * The lines around it, numbered as grep does: `12:` for the line itself, `11-` for one beside it. Long lines are
   * shortened around the match.
   */
  readonly excerpt: string;
}

/** The words and facts of entries to look for. */
export interface SearchQuery {
  /** Only keys that begin so. */
  readonly prefix: string;
  /** Words; at most 1024 characters of them. */
  readonly query?: string | undefined;
  /** This category, and those below it (`research` finds `research/prices`). Case does not matter. */
  readonly category?: string | undefined;
  /** An entry has all of them. Case does not matter. */
  readonly tags?: readonly string[] | undefined;
  /** @default 20 */
  readonly limit?: number | undefined;
}

/** An entry that a search has found. */
export interface MemoryHit extends MemoryEntryInfo {
  /** The first 120 characters of its text. */
  readonly beginning: string;
}

/** How much an owner may keep. */
export interface MemoryLimits {
  /**
   * Entries of one namespace that are no chunks.
   * @default 50
   */
  readonly maxEntries: number;
  /**
   * Chunks of one namespace. The largest result that crosses the bus, 32 MiB, has about 2 000 chunks at most: beyond 1
   * 000 the chunker joins neighbours that fit into one. So two of them fit, and a thousand small pages.
   * @default 4_096
   */
  readonly maxChunks: number;
  /**
   * All that one owner keeps: a byte for each character, or two for each of a text that is not Latin, and 256 for each
   * entry. Beyond, the entries that end first give way. In Redis it is no more than the owner's share there.
   * @default 134_217_728
   */
  readonly maxBytes: number;
  /**
   * All that one process keeps in its memory. Beyond, entries of the owner with the most give way. Redis has a bound of
   * its own: maxmemory.
   * @default 536_870_912
   */
  readonly maxTotalBytes: number;
}

export const DEFAULT_LIMITS: MemoryLimits = {
  maxEntries: 50,
  maxChunks: 4_096,
  maxBytes: 128 * 1024 ** 2,
  maxTotalBytes: 512 * 1024 ** 2,
};
/** The characters of one text, at most. */
export const MAX_VALUE_LENGTH = 32 * 1024 ** 2;
export const MAX_KEY_LENGTH = 512;
export const DEFAULT_TTL_MS = 5 * 60_000;
export const MAX_TTL_MS = 24 * 3_600_000;
/** An entry costs so much beside its text: its key, its facts and its place in the store. */
export const ENTRY_BYTES = 256;

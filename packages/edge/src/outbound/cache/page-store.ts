/**
 * Keeps bytes for a while, by keys that are hashes. It may forget at any time, and hold what was put there by a
 * stranger: who reads it checks it.
 */
export interface PageStore {
  /** Reads a page, at most MAX_KEPT_BYTES of it. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Keeps at most MAX_KEPT_BYTES, and more not at all. */
  set(key: string, bytes: Uint8Array, options: { readonly ttlMs: number }): Promise<void>;
}

/** The largest answer that is kept, its headers included. */
export const MAX_KEPT_BYTES = 1_048_576;
/** Nothing is kept longer, in milliseconds. */
export const MAX_KEPT_MS = 3_600_000;
/** So many answers at most, however small. */
export const MAX_KEPT_PAGES = 1_000;

/**
 * A store of this process. Beyond its bounds the page that was used longest ago goes first.
 * @param maxBytes of all pages together
 */
export function createMemoryPageStore({ maxBytes }: { readonly maxBytes: number }): PageStore {
  /** The pages in the order of use. */
  const pages = new Map<string, { readonly bytes: Uint8Array; readonly until: number }>();
  let total = 0;

  function drop(key: string): void {
    total -= pages.get(key)?.bytes.byteLength ?? 0;
    pages.delete(key);
  }
  return {
    async get(key) {
      const page = pages.get(key);
      if (page === undefined) return undefined;
      if (page.until <= performance.now()) {
        drop(key);
        return undefined;
      }
      pages.delete(key);
      pages.set(key, page);
      return page.bytes;
    },
    async set(key, bytes, { ttlMs }) {
      drop(key);
      if (bytes.byteLength > Math.min(MAX_KEPT_BYTES, maxBytes)) return;
      pages.set(key, { bytes, until: performance.now() + Math.min(ttlMs, MAX_KEPT_MS) });
      total += bytes.byteLength;
      while (total > maxBytes || pages.size > MAX_KEPT_PAGES) drop(pages.keys().next().value as string);
    },
  };
}

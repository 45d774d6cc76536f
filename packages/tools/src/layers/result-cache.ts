import type { ToolInvokeResponse } from "@rockbot/contracts";

/** Bounds of a cache of results. */
export interface ResultCacheOptions {
  /** @default 1_000 */
  readonly maxEntries?: number | undefined;
  /** All results together; one alone may have a quarter. @default 64 MiB */
  readonly maxBytes?: number | undefined;
}

/** Keeps results of calls for a while. Beyond its bounds the one that was used longest ago goes first. */
export class ResultCache {
  /** The results in the order of use. */
  readonly #entries = new Map<
    string,
    { readonly response: ToolInvokeResponse; readonly bytes: number; readonly at: number; readonly ttlMs: number }
  >();
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor({ maxEntries = 1_000, maxBytes = 64 * 1024 * 1024 }: ResultCacheOptions = {}) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  /** The result under the key if it is not older than `ttlMs`, nor than it may ever be. */
  get(key: string, ttlMs: number): ToolInvokeResponse | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const ageMs = performance.now() - entry.at;
    if (ageMs >= entry.ttlMs) this.#drop(key);
    if (ageMs >= Math.min(ttlMs, entry.ttlMs)) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.response;
  }

  set(key: string, response: ToolInvokeResponse, ttlMs: number): void {
    this.#drop(key);
    const bytes = sizeOf(key, response);
    if (bytes > this.#maxBytes / 4) return;
    this.#entries.set(key, { response, bytes, at: performance.now(), ttlMs });
    this.#bytes += bytes;
    while (this.#entries.size > this.#maxEntries || this.#bytes > this.#maxBytes)
      this.#drop(this.#entries.keys().next().value as string);
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** Its size in memory, roughly: two bytes a character. */
const sizeOf = (key: string, { content, structured }: ToolInvokeResponse): number =>
  2 * (key.length + (content?.length ?? 0) + (structured == null ? 0 : JSON.stringify(structured).length)) + 200;

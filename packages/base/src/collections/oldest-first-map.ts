import { SlotMap } from "./slot-map.ts";

interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  older: Entry<Key, Value> | undefined;
  newer: Entry<Key, Value> | undefined;
}

/**
 * A map that knows its oldest entry at once, even after many deletions. A plain Map keeps the order too, but a look at
 * its front passes over all deleted entries. As a queue of 10 000 entries that costs 10 µs for each.
 */
export class OldestFirstMap<Key, Value> implements Iterable<readonly [Key, Value]> {
  readonly #entries = new SlotMap<Key, Entry<Key, Value>>();
  #oldest: Entry<Key, Value> | undefined;
  #newest: Entry<Key, Value> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  /** The entry that has been there longest. */
  get oldest(): { readonly key: Key; readonly value: Value } | undefined {
    return this.#oldest;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Adds the entry as the newest, also if the key was there before. */
  set(key: Key, value: Value): void {
    const known = this.#entries.get(key);
    if (known !== undefined) this.#unlink(known);
    const entry = known ?? { key, value, older: undefined, newer: undefined };
    if (known === undefined) this.#entries.set(key, entry);
    entry.value = value;
    entry.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  /** @returns whether it was there */
  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#unlink(entry);
    return true;
  }

  /** Deletes from the oldest on, up to the first entry of which `isOver` is false. `isOver` must not change the map. */
  deleteOldestWhile(isOver: (value: Value, key: Key) => boolean): void {
    while (this.#oldest !== undefined && isOver(this.#oldest.value, this.#oldest.key)) this.delete(this.#oldest.key);
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
  }

  /** Oldest first. The walk ends if the entry where it stands is deleted meanwhile. */
  *[Symbol.iterator](): IterableIterator<readonly [Key, Value]> {
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) yield [entry.key, entry.value];
  }

  #unlink(entry: Entry<Key, Value>): void {
    if (entry.older === undefined) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.#newest = entry.older;
    else entry.newer.older = entry.older;
    // Else one that lives long as garbage would keep all that came after it alive as long.
    entry.older = undefined;
    entry.newer = undefined;
  }
}

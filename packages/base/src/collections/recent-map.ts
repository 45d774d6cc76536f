/**
 * Remembers the newest entries: `count` of them at least, twice as many at most. It forgets the older half at a stroke.
 * To forget entries one by one, each long out of every cache, costs more than all else that is done with them.
 */
export class RecentMap<Key, Value> {
  readonly #count: number;
  #newer = new Map<Key, Value>();
  #older: ReadonlyMap<Key, Value> = new Map<Key, Value>();

  constructor(count: number) {
    this.#count = count;
  }

  has(key: Key): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  /** Adds the entry as one of the newest, also if the key was there before. */
  set(key: Key, value: Value): void {
    if (this.#newer.size >= this.#count && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  /** About in the order they were added, the newest first. */
  newestFirst(): Value[] {
    const older = [...this.#older].filter(([key]) => !this.#newer.has(key)).map(([, value]) => value);
    return [...older, ...this.#newer.values()].reverse();
  }
}

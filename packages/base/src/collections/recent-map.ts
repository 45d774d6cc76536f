/**
 * Remembers the newest entries: `count` of them at least, twice as many at most. It forgets the older half at a stroke.
 * To forget entries one by one, each long out of every cache, costs more than all else that is done with them. Where
 * entries have owners, the entries of one do not push out those of others. An owner that has set few lately keeps what
 * it has, up to its part of `count`. Then there are three times as many at most.
 */
export class RecentMap<Key, Value> {
  readonly #count: number;
  readonly #ownerOf: ((value: Value) => string) | undefined;
  #newer = new Map<Key, Value>();
  #older: ReadonlyMap<Key, Value> = new Map<Key, Value>();
  /** Whose the older entries are, at most. */
  #olderOwners: ReadonlySet<string> = new Set<string>();

  constructor(count: number, { ownerOf }: { readonly ownerOf?: ((value: Value) => string) | undefined } = {}) {
    this.#count = count;
    this.#ownerOf = ownerOf;
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
      const kept = this.#ownerOf === undefined ? [] : this.#quiet(this.#ownerOf);
      this.#older = kept.length === 0 ? this.#newer : new Map([...kept, ...this.#newer]);
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  /** The older entries of owners that have fewer newer ones than their part. Owners are counted first: mostly none has. */
  #quiet(ownerOf: (value: Value) => string): [Key, Value][] {
    const counts = new Map<string, number>();
    const count = (owner: string): number => {
      const number = (counts.get(owner) ?? 0) + 1;
      counts.set(owner, number);
      return number;
    };
    for (const value of this.#newer.values()) count(ownerOf(value));
    const part = this.#count / new Set([...counts.keys(), ...this.#olderOwners]).size;
    const isAnyQuiet = [...this.#olderOwners].some((owner) => (counts.get(owner) ?? 0) < part);
    const kept = !isAnyQuiet
      ? []
      : [...this.#older]
          .filter(([key]) => !this.#newer.has(key))
          .reverse()
          .filter(([, value]) => count(ownerOf(value)) <= part)
          .reverse();
    this.#olderOwners = new Set(counts.keys());
    return kept;
  }

  /** About in the order they were added, the newest first. */
  newestFirst(): Value[] {
    const older = [...this.#older].filter(([key]) => !this.#newer.has(key)).map(([, value]) => value);
    return [...older, ...this.#newer.values()].reverse();
  }
}

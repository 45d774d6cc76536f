/**
 * The entries that a channel counts, by their tags, from the oldest that is still there on. Tags follow one another, so
 * it is a list. A Map would make its table anew after every few that have gone, and pass over all of them whenever its
 * front is asked for.
 */
export class TagWindow<Value> implements Iterable<Value> {
  /** A deleted entry leaves a gap. */
  #values: (Value | undefined)[] = [];
  /** The tag of the first place in the list. */
  #firstTag = 1;
  /** The place of the oldest value, or behind the last one. */
  #oldest = 0;

  /** The tag of the oldest value, or `end`. */
  get start(): number {
    return this.#firstTag + this.#oldest;
  }

  /** The tag behind the last one. */
  get end(): number {
    return this.#firstTag + this.#values.length;
  }

  get(tag: number): Value | undefined {
    return tag < this.start ? undefined : this.#values[tag - this.#firstTag];
  }

  /** Tags before `start` are over: nothing happens. */
  set(tag: number, value: Value): void {
    if (tag < this.start) return;
    while (this.end < tag) this.#values.push(undefined);
    this.#values[tag - this.#firstTag] = value;
  }

  delete(tag: number): void {
    if (this.get(tag) === undefined) return;
    this.#values[tag - this.#firstTag] = undefined;
    while (this.#oldest < this.#values.length && this.#values[this.#oldest] === undefined) this.#oldest++;
    if (this.#oldest < LONG_GAP || this.#oldest * 2 < this.#values.length) return;
    this.#values = this.#values.slice(this.#oldest);
    this.#firstTag += this.#oldest;
    this.#oldest = 0;
  }

  /** Oldest first. */
  *[Symbol.iterator](): IterableIterator<Value> {
    for (let tag = this.start; tag < this.end; tag++) {
      const value = this.get(tag);
      if (value !== undefined) yield value;
    }
  }
}

/** A shorter gap at the front is not worth a copy of what is behind it. */
const LONG_GAP = 256;

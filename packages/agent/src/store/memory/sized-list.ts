/** A list of values that nobody changes, which knows about how many bytes they take. The oldest give way. */
export class SizedList<T extends object> {
  #items: T[] = [];
  #bytes = 0;

  get items(): readonly T[] {
    return this.#items;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(...items: readonly T[]): void {
    this.#items.push(...items);
    for (const item of items) this.#bytes += sizeOf(item);
  }

  /** Drops the oldest until the bounds hold. The newest always stays. */
  bound(maxItems: number, maxBytes: number): void {
    let dropped = Math.max(0, this.#items.length - maxItems);
    let bytes = this.#items.slice(0, dropped).reduce((sum, item) => sum + sizeOf(item), 0);
    for (; this.#bytes - bytes > maxBytes && dropped < this.#items.length - 1; dropped++)
      bytes += sizeOf(this.#items[dropped]);
    this.drop(dropped);
  }

  /** Drops the oldest so many. */
  drop(count: number): void {
    for (const item of this.#items.splice(0, count)) this.#bytes -= sizeOf(item);
  }
}

/** About what an object of V8 has besides its fields, and a field. */
const OBJECT_BYTES = 64;
const FIELD_BYTES = 16;

/** About how many bytes a value takes in memory; rather too many, as a text may have two for each character. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return FIELD_BYTES + 2 * value.length;
  if (typeof value !== "object" || value === null) return FIELD_BYTES;
  if (value instanceof Map) return [...value].reduce((sum, entry) => sum + sizeOf(entry), OBJECT_BYTES);
  return Object.values(value).reduce((sum: number, field) => sum + FIELD_BYTES + sizeOf(field), OBJECT_BYTES);
}

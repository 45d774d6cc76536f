/**
 * What was worked out of short texts of pages, kept while the process lives: pages share most of them. It is emptied
 * when it is full. It keeps a copy of each text, as a part that JavaScript cuts out keeps the whole page in memory.
 */
export class TextMemo<Value> {
  readonly #known = new Map<string, Value>();
  readonly #maxTexts: number;
  readonly #maxLength: number;

  /** @param maxLength in UTF-16 code units; what a longer text gives is not kept */
  constructor({ maxTexts, maxLength }: { readonly maxTexts: number; readonly maxLength: number }) {
    this.#maxTexts = maxTexts;
    this.#maxLength = maxLength;
  }

  /** @param read works it out, of the copy: a value may hold parts of it */
  of(text: string, read: (text: string) => Value): Value {
    if (text.length > this.#maxLength) return read(text);
    const known = this.#known.get(text);
    if (known !== undefined || this.#known.has(text)) return known as Value;
    const copy = Buffer.from(text, "utf16le").toString("utf16le");
    const value = read(copy);
    if (this.#known.size >= this.#maxTexts) this.#known.clear();
    this.#known.set(copy, value);
    return value;
  }
}

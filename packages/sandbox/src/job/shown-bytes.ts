/** What a script shows, as it comes from its sandbox: all of it within a bound, or nothing. */
export class ShownBytes {
  readonly #mostBytes: number;
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#mostBytes) this.#parts.push(bytes);
    else this.#parts.length = 0;
  }

  /** @returns undefined if nothing came, or too much */
  end(): Buffer | undefined {
    return this.#parts.length === 0 ? undefined : Buffer.concat(this.#parts);
  }
}

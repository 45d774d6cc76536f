/** Keeps the end of a text that may go on for ever. */
export class TailText {
  readonly #maxLength: number;
  #text = "";

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  push(text: string): void {
    this.#text = (this.#text + text.slice(-this.#maxLength)).slice(-this.#maxLength);
  }

  toString(): string {
    return this.#text;
  }
}

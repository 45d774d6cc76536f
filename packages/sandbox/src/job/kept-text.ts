import { StringDecoder } from "node:string_decoder";

/** The first bytes of a stream as text, and how many came after them. */
export class KeptText {
  readonly #decoder = new StringDecoder("utf8");
  #left: number;
  #text = "";
  #dropped = 0;

  constructor(keepBytes: number) {
    this.#left = keepBytes;
  }

  add(bytes: Buffer): void {
    const kept = bytes.subarray(0, this.#left);
    this.#left -= kept.length;
    this.#dropped += bytes.length - kept.length;
    this.#text += this.#decoder.write(kept);
  }

  /**
   * Bytes that are no UTF-8 are replaced; a character that the bound has cut is left out.
   * @param droppedBefore bytes that were dropped before they came here
   */
  end(droppedBefore: number): { readonly text: string; readonly droppedBytes: number } {
    const droppedBytes = this.#dropped + droppedBefore;
    return { text: droppedBytes > 0 ? this.#text : this.#text + this.#decoder.end(), droppedBytes };
  }
}

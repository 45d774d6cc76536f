import { StringDecoder } from "node:string_decoder";

/** What is kept of a stream. */
export interface Kept {
  readonly text: string;
  /** The end of the stream, where something is missing between the text and it. */
  readonly tail: string;
  readonly droppedBytes: number;
}

/**
 * The first bytes of a stream as text, the last ones if they are wanted, and how many came in between or after them.
 */
export class KeptText {
  readonly #decoder = new StringDecoder("utf8");
  readonly #tail: Buffer[] = [];
  #left: number;
  #tailLeft: number;
  #text = "";
  #dropped = 0;

  constructor(keepBytes: number, tailBytes = 0) {
    this.#left = keepBytes;
    this.#tailLeft = tailBytes;
  }

  add(bytes: Buffer): void {
    const kept = bytes.subarray(0, this.#left);
    this.#left -= kept.length;
    this.#dropped += bytes.length - kept.length;
    this.#text += this.#decoder.write(kept);
  }

  /** Adds bytes of the end, in order, after all bytes that went to `add`. */
  addTail(bytes: Buffer): void {
    const kept = bytes.subarray(0, this.#tailLeft);
    this.#tailLeft -= kept.length;
    this.#dropped += bytes.length - kept.length;
    if (kept.length > 0) this.#tail.push(kept);
  }

  /**
   * Bytes that are no UTF-8 are replaced; a character that a bound has cut is left out.
   * @param droppedBefore bytes that were dropped before they came here
   */
  end(droppedBefore: number): Kept {
    const droppedBytes = this.#dropped + droppedBefore;
    const tail = Buffer.concat(this.#tail);
    if (droppedBytes === 0)
      return { text: this.#text + this.#decoder.write(tail) + this.#decoder.end(), tail: "", droppedBytes };
    return { text: this.#text, tail: tail.subarray(restOfCharacter(tail)).toString(), droppedBytes };
  }
}

/** How many bytes at the begin belong to a character whose first byte is not there. */
function restOfCharacter(bytes: Buffer): number {
  let rest = 0;
  while (rest < 3 && ((bytes[rest] ?? 0) & 0xc0) === 0x80) rest++;
  return rest;
}

/** The longest line that is read: a result may be 8 MiB, and its JSON text somewhat longer. */
export const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** The bytes kept from each end of a line that is too long. */
const KEPT_BYTES = 512;

export interface LineListener {
  onLine(line: string): void;
  /** A line of `bytes` was dropped; `ends` is its beginning and its end, for finding whom it answers. */
  onDropped(bytes: number, ends: string): void;
}

/** Cuts a stream of bytes into lines. Holds at most `maxBytes`, however long a line is. */
export class LineSplitter {
  readonly #listener: LineListener;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isDropping = false;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);

  constructor(listener: LineListener, maxBytes: number = MAX_LINE_BYTES) {
    this.#listener = listener;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#take(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#isDropping) {
      this.#tail = Buffer.concat([this.#tail, part.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
      return;
    }
    this.#parts.push(part);
    if (this.#bytes <= this.#maxBytes) return;
    const all = Buffer.concat(this.#parts);
    this.#isDropping = true;
    this.#head = Buffer.from(all.subarray(0, KEPT_BYTES));
    this.#tail = Buffer.from(all.subarray(-KEPT_BYTES));
    this.#parts = [];
  }

  #endLine(): void {
    if (this.#isDropping)
      this.#listener.onDropped(this.#bytes, `${this.#head.toString("utf8")} ${this.#tail.toString("utf8")}`);
    else if (this.#bytes > 0)
      this.#listener.onLine(
        (this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts))?.toString("utf8") ?? "",
      );
    this.#parts = [];
    this.#bytes = 0;
    this.#isDropping = false;
  }
}

const NEWLINE = 0x0a;

/** Gives the events of an answer on in whole lines, each as `mend` writes it. */
export class EventLines {
  readonly #mend: (lines: Buffer) => Buffer;
  /** The pieces of a line that has not ended. */
  #held: Buffer[] = [];

  constructor(mend: (lines: Buffer) => Buffer) {
    this.#mend = mend;
  }

  /** The lines that end in this piece; empty if none does. */
  take(piece: Uint8Array): Buffer {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      this.#held.push(bytes);
      return bytes.subarray(0, 0);
    }
    const lines =
      this.#held.length === 0 ? bytes.subarray(0, end) : Buffer.concat([...this.#held, bytes.subarray(0, end)]);
    this.#held = end === bytes.length ? [] : [bytes.subarray(end)];
    return this.#mend(lines);
  }

  /** What has come after the last line. */
  rest(): Buffer {
    return this.#mend(Buffer.concat(this.#held.splice(0)));
  }
}

/**
 * Each line of data as `mended` writes what it holds; lines of which it gives `undefined` are left out, and lines that
 * hold no JSON stay.
 */
export function mendData(lines: string, mended: (data: unknown) => unknown): string {
  return lines
    .split("\n")
    .flatMap((line) => {
      if (!line.startsWith("data:")) return [line];
      const data = parsed(line.slice("data:".length));
      if (data === undefined) return [line];
      const better = mended(data);
      if (better === data) return [line];
      return better === undefined ? [] : [`data: ${JSON.stringify(better)}`];
    })
    .join("\n");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Markdown, piece by piece. Between two pieces are as many line ends as the one ends with or the other begins with, but
 * no more than an empty line.
 */
export class Pieces {
  #text = "";
  #lineEnds = 0;

  add(piece: string): void {
    let start = 0;
    while (piece.charCodeAt(start) === LINE_END) start++;
    this.breakLine(start);
    if (start === piece.length) return;
    let end = piece.length;
    while (piece.charCodeAt(end - 1) === LINE_END) end--;
    this.#text += lineEnds(this.#lineEnds) + (start === 0 && end === piece.length ? piece : piece.slice(start, end));
    this.#lineEnds = piece.length - end;
  }

  /** At least so many line ends before what follows. */
  breakLine(count: number): void {
    if (count > this.#lineEnds) this.#lineEnds = count;
  }

  /** With the line ends before the first piece and behind the last. */
  toString(): string {
    return this.#text + lineEnds(this.#lineEnds);
  }
}

const LINE_END = 10;
const lineEnds = (count: number): string => (count === 0 ? "" : count === 1 ? "\n" : "\n\n");

/** Time is counted in so many slices: what was written lapses with its slice. */
const SLICES = 8;
/** The most callers in one slice whose bytes are counted; further ones count as one, so that names cost nothing. */
const MAX_CALLERS = 10_000;

/** How many bytes this process has written of late for each caller: an estimate that costs no round trip. */
export class WrittenBytes {
  readonly #sliceMs: number;
  readonly #clock: () => number;
  #slices: { readonly at: number; readonly of: Map<string, number> }[] = [];

  /** @param keptMs how long what is written lies there */
  constructor(keptMs: number, clock: () => number = () => performance.now()) {
    this.#sliceMs = keptMs / SLICES;
    this.#clock = clock;
  }

  add(caller: string, bytes: number): void {
    const at = Math.floor(this.#clock() / this.#sliceMs);
    if (this.#slices.at(-1)?.at !== at) {
      this.#slices = this.#slices.filter((slice) => slice.at > at - SLICES);
      this.#slices.push({ at, of: new Map() });
    }
    const { of } = this.#slices.at(-1) as { readonly of: Map<string, number> };
    const name = of.has(caller) || of.size < MAX_CALLERS ? caller : "";
    of.set(name, (of.get(name) ?? 0) + bytes);
  }

  of(caller: string): number {
    const oldest = Math.floor(this.#clock() / this.#sliceMs) - SLICES;
    return this.#slices.reduce((sum, { at, of }) => sum + (at > oldest ? (of.get(caller) ?? 0) : 0), 0);
  }
}

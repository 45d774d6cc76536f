/** Draws the choices of a run: `random` is uniform in [0, 1). */
export class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** Where a piece of at most `longest` characters of `text` begins and ends. */
  piece(text: string, longest: number): readonly [number, number] {
    const start = this.below(text.length + 1);
    return [start, Math.min(text.length, start + this.below(longest))];
  }
}

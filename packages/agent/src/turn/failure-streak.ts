/** So many identical failing calls in a row end a turn's calls. */
const MAX_STREAK = 3;

/** Notices a model that makes the same failing call again and again. */
export class FailureStreak {
  #last: string | undefined;
  #count = 0;

  /** @returns why the turn stops calling, in words, once it is enough */
  add(name: string, args: string, isError: boolean): string | undefined {
    const call = isError ? `${name} ${args}` : undefined;
    this.#count = call !== undefined && call === this.#last ? this.#count + 1 : 1;
    this.#last = call;
    return isError && this.#count >= MAX_STREAK ? `the same call of "${name}" has failed ${this.#count} times in a row` : undefined;
  }
}

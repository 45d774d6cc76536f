/** So many answers in a row that make the same failing call end a turn's calls. */
const MAX_STREAK = 3;

/** A call as it ended. */
export interface EndedCall {
  readonly name: string;
  readonly args: string;
  readonly isError: boolean;
}

/**
 * Notices a model that makes the same failing call again and again. Calls of one answer count once: their model has not
 * read a result between them.
 */
export class FailureStreak {
  #last: string | undefined;
  #count = 0;

  /**
   * @param calls those of one answer
   * @returns why the turn stops calling, in words, once it is enough
   */
  add(calls: readonly EndedCall[]): string | undefined {
    const failed = calls.every(({ isError }) => isError)
      ? [...new Set(calls.map(({ name, args }) => `${name} ${args}`))].sort().join("\n")
      : undefined;
    this.#count = failed !== undefined && failed === this.#last ? this.#count + 1 : 1;
    this.#last = failed;
    if (failed === undefined || this.#count < MAX_STREAK) return undefined;
    const names = [...new Set(calls.map(({ name }) => `"${name}"`))].join(", ");
    return `the same call of ${names} has failed ${this.#count} times in a row`;
  }
}

/**
 * Cancels come so long after the broker goes on, at most: they lie behind their calls in the sockets of their callers.
 * Measured: a few milliseconds.
 */
const SETTLING_MS = 300;
/** A connection that does not come back holds no message for longer. */
const MAX_HOLD_MS = 2_000;

/**
 * A broker that stood still with its sockets open. When it goes on it hands out the calls that lie in them, and those
 * may be over: the time to live of a message counts from when the broker has read it. Their cancels come right behind.
 * So such calls wait a moment, in which a service hears of those cancels.
 */
export class Standstill {
  #over: PromiseWithResolvers<void> | undefined;
  #settling: NodeJS.Timeout | undefined;

  /** The broker owes something, and is silent. */
  begin(): void {
    clearTimeout(this.#settling);
    this.#over ??= Promise.withResolvers();
  }

  /** The broker takes messages again. */
  end(): void {
    if (this.#over === undefined) return;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      this.#over?.resolve();
      this.#over = undefined;
    }, SETTLING_MS).unref();
  }

  /** What a message waits for before it is handled; undefined if nothing. It never rejects. */
  get hold(): Promise<void> | undefined {
    const over = this.#over?.promise;
    if (over === undefined) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const longest = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, MAX_HOLD_MS);
    });
    return Promise.race([over, longest]).finally(() => clearTimeout(timer));
  }
}

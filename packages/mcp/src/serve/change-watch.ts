/**
 * Changes that come within this time make one notification: a service that comes with 40 tools is one piece of news.
 */
const SETTLE_MS = 100;

/**
 * Tells clients that their lists may have changed, a moment after something has. All of them: guides come and go with
 * the tools that they teach, and which of them a client may see differs.
 */
export class ChangeWatch implements Disposable {
  readonly #tell: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  /** Something about the tools has changed, or about who may use them. */
  note(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tell();
    }, SETTLE_MS).unref();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

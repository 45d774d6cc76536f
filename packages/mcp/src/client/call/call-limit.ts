import { createSemaphore, type Semaphore } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** How many calls run and wait at once. */
export interface CallLimitOptions {
  /** How many run at once. */
  readonly concurrency: number;
  /** How many wait for their turn; more are refused. @default four times as many */
  readonly waiting?: number | undefined;
}

const RETRY_AFTER_MS = 1_000;

/** Bounds the calls of one server: some run, some wait in their order, the rest is refused at once. */
export class CallLimit {
  readonly #semaphore: Semaphore | undefined;
  readonly #maxWaiting: number;
  #inside = 0;
  #waiting = 0;
  readonly #concurrency: number;

  constructor(options: CallLimitOptions | undefined) {
    this.#concurrency = options?.concurrency ?? Number.POSITIVE_INFINITY;
    this.#semaphore = options === undefined ? undefined : createSemaphore(options.concurrency);
    this.#maxWaiting = options?.waiting ?? 4 * this.#concurrency;
  }

  /** Resolves when it is the call's turn. @throws {ToolError} `overloaded`, or the signal's reason */
  async enter(server: string, signal: AbortSignal): Promise<Disposable | undefined> {
    if (this.#semaphore === undefined) return undefined;
    if (this.#inside >= this.#concurrency && this.#waiting >= this.#maxWaiting) {
      throw new ToolError(
        ToolErrorCode.Overloaded,
        `The MCP server "${server}" has ${this.#inside} calls running and ${this.#waiting} waiting, the most it may have. Try again later.`,
        {
          retryAfterMs: RETRY_AFTER_MS,
          details: { mayHaveRun: false },
        },
      );
    }
    this.#waiting++;
    try {
      const permit = await this.#semaphore.acquire(signal);
      this.#inside++;
      return {
        [Symbol.dispose]: () => {
          this.#inside--;
          permit[Symbol.dispose]();
        },
      };
    } finally {
      this.#waiting--;
    }
  }
}

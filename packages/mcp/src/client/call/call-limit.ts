import { createFairQueue } from "@rockbot/base";
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
  readonly #queue = createFairQueue();
  readonly #options: CallLimitOptions | undefined;

  constructor(options: CallLimitOptions | undefined) {
    this.#options = options;
  }

  /** Resolves when it is the call's turn. @throws {ToolError} `overloaded`, or the signal's reason */
  async enter(server: string, signal: AbortSignal): Promise<Disposable | undefined> {
    if (this.#options === undefined) return undefined;
    const { concurrency, waiting = 4 * concurrency } = this.#options;
    const place = await this.#queue.enter("", { concurrency, waiting, signal });
    if (place !== undefined) return place;
    throw new ToolError(
      ToolErrorCode.Overloaded,
      `The MCP server "${server}" has ${concurrency} calls running and ${waiting} waiting, the most it may have. Try again later.`,
      { retryAfterMs: RETRY_AFTER_MS, details: { mayHaveRun: false } },
    );
  }
}

import { backoffMs } from "@rockbot/base";
import { type ToolError, ToolErrorCode } from "@rockbot/contracts";

/** The longest that nothing is tried after failures, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000;
/** From so many failures in a row on nobody waits for the end of a pause. */
const HOPELESS_FROM = 3;

export interface FailedAttempt {
  /** When it was begun, on the clock of `performance.now()`. */
  readonly begunAt: number;
  /** How many sandboxes there are without it, in whatever state. */
  readonly others: number;
}

/**
 * Holds back the making of sandboxes after failures: longer with each in a row, and one attempt at a time until one
 * lasts. Attempts that were made side by side and fail together count once. Where there was merely no room for more, so
 * many as there were then may be there all the same: one that ends is replaced without a pause. Beyond those one
 * attempt shows whether there is more room, and as long as there is, twice as many each time.
 */
export class MakingPause {
  #failures = 0;
  #countedAt = 0;
  #until = 0;
  #atOnce = Number.POSITIVE_INFINITY;
  #room = 0;
  #lastError: ToolError | undefined;

  /** Why the last attempt failed, as long as none has succeeded since. */
  get lastError(): ToolError | undefined {
    return this.#lastError;
  }

  /** How long nothing is to be tried, in milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.#until - performance.now());
  }

  get isOver(): boolean {
    return this.leftMs === 0;
  }

  /** A caller should learn that at once. Where there is merely no room, room may come. */
  get isHopeless(): boolean {
    return this.#failures >= HOPELESS_FROM && !this.isOver && !this.#isForRoom;
  }

  get #isForRoom(): boolean {
    return this.#lastError?.code === ToolErrorCode.Overloaded;
  }

  /** Tells whether one more may be made, with `existing` ones in any state, `making` of which are being made. */
  allows(existing: number, making: number): boolean {
    return existing < this.#room || (this.isOver && making < this.#atOnce);
  }

  failed(error: ToolError, { begunAt, others }: FailedAttempt): void {
    const now = performance.now();
    const isForRoom = error.code === ToolErrorCode.Overloaded;
    if (isForRoom && others < this.#room) this.#failures = 0; // room was expected: it has changed, or is given back late
    if (this.#failures === 0 || begunAt >= this.#countedAt) {
      this.#failures++;
      this.#countedAt = now;
    }
    this.#lastError = error;
    this.#atOnce = 1;
    this.#room = isForRoom ? others : 0;
    this.#until = now + backoffMs(this.#failures, { maxMs: LONGEST_PAUSE_MS, leastPart: 0.5 });
  }

  /**
   * A sandbox was made, and has lasted until it was wanted. `lasting`: how many there are with it that are not being
   * made.
   */
  succeeded(lasting: number): void {
    const wasForRoom = this.#isForRoom;
    if (wasForRoom && lasting <= this.#room) return;
    this.#failures = 0;
    this.#until = 0;
    this.#atOnce = wasForRoom ? 2 * this.#atOnce : Number.POSITIVE_INFINITY;
    if (wasForRoom) this.#room = lasting;
    else this.#lastError = undefined;
  }
}

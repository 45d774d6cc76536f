import { backoffMs } from "@rockbot/async";
import { type ToolError, ToolErrorCode } from "@rockbot/contracts";

/** The longest that nothing is tried after failures, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000;
/** From so many failures in a row on nobody waits for the end of a pause. */
const HOPELESS_FROM = 3;

/** Holds back the making of sandboxes after failures: longer with each in a row, and one attempt at a time until one lasts. */
export class MakingPause {
  #failures = 0;
  #until = 0;
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

  /** After failures one attempt shows whether there is sense in more. */
  get allowsOneOnly(): boolean {
    return this.#failures > 0;
  }

  /** Whoever wants a sandbox now is better told so. Where there is merely no room, room may come. */
  get isHopeless(): boolean {
    return this.#failures >= HOPELESS_FROM && !this.isOver && !this.isForRoom;
  }

  /** Sandboxes could be made, if there were room for more. */
  get isForRoom(): boolean {
    return this.#lastError?.code === ToolErrorCode.Overloaded;
  }

  failed(error: ToolError): void {
    this.#failures++;
    this.#lastError = error;
    this.#until = performance.now() + backoffMs(this.#failures, { maxMs: LONGEST_PAUSE_MS, leastPart: 0.5 });
  }

  /** A sandbox was made and has lasted until it was wanted; or there is room again. */
  end(): void {
    this.#failures = 0;
    this.#until = 0;
    this.#lastError = undefined;
  }
}

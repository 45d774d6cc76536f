import { type ServedSteps, writeServedSteps } from "@rockbot/contracts";
import type { ServedCallSteps } from "../define/tool-executor.ts";

/** The layer after which a call is admitted, and the one after which it is claimed. */
export const CLAIM = "claim";
export const START = "start";

/** How far a call has come in a service, for the answer to tell its caller. Times are on the clock of `performance.now()`. */
export class CallSteps implements ServedCallSteps {
  readonly #receivedAt: number;
  readonly #isRedelivered: boolean;
  #layer: string;
  #admittedAt: number | undefined;
  #claimedAt: number | undefined;
  #startedAt: number | undefined;

  /** @param layer what has the call now */
  constructor(receivedAt: number, layer: string, isRedelivered = false) {
    this.#receivedAt = receivedAt;
    this.#layer = layer;
    this.#isRedelivered = isRedelivered;
  }

  reached(layer: string): void {
    this.#layer = layer;
    if (layer === CLAIM) this.#admittedAt ??= performance.now();
    else if (layer === START) this.#startedAt ??= performance.now();
  }

  claimed(): void {
    this.#claimedAt ??= performance.now();
  }

  /** For an answer that goes out now. */
  text(): string {
    const now = performance.now();
    const before = (at: number | undefined) => (at === undefined ? undefined : now - at);
    const steps: ServedSteps = {
      received: before(this.#receivedAt),
      admitted: before(this.#admittedAt),
      claimed: before(this.#claimedAt),
      started: before(this.#startedAt),
      layer: this.#startedAt === undefined ? this.#layer : undefined,
      isRedelivered: this.#isRedelivered,
    };
    return writeServedSteps(steps);
  }
}

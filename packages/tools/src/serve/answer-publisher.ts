import { backoffMs, pause } from "@rockbot/base";
import { type Bus, HEALED_WITHIN_MS, QueueFullError, UnroutableError } from "@rockbot/bus";
import type { Envelope } from "@rockbot/contracts";

export interface AnswerPublisherOptions {
  /** How many answers of one caller are held while its queue takes none. Each holds a handler. */
  readonly maxHeldPerCaller: number;
  /** An answer has no queue any more. */
  readonly onUnrouted: () => void;
}

/** An answer whose caller's deadline is over is still offered to the bus for this long. */
const LATE_PUBLISH_MS = 1_000;

/**
 * Publishes answers. An answer is offered again if its caller's queue is there and the answer does not reach it, or if
 * the queue refuses it. Somebody may have deleted the bindings that lead to the queue, or the queue lies on a node that
 * has just died. After a while the answer counts as one without a queue; so it does for a caller of whom many answers
 * are held already. So a caller whose queue takes nothing costs its service a few handlers, and no second run.
 */
export class AnswerPublisher {
  readonly #bus: Bus;
  readonly #options: AnswerPublisherOptions;
  readonly #held = new Map<string, number>();

  constructor(bus: Bus, options: AnswerPublisherOptions) {
    this.#bus = bus;
    this.#options = options;
  }

  /**
   * @param deadline of the call, on the clock of `performance.now()`
   * @param isTransient whether it may be carried in the bus's memory alone
   * @throws as Bus.publish, but for what a caller's queue is to blame for
   */
  async publish(answer: Envelope, caller: string, deadline: number, isTransient = false): Promise<void> {
    const isTaken =
      (await this.#isTaken(answer, deadline, isTransient)) ?? (await this.#offerAgain(answer, caller, deadline));
    if (!isTaken) this.#options.onUnrouted();
  }

  /** @returns whether it was taken */
  async #offerAgain(answer: Envelope, caller: string, deadline: number): Promise<boolean> {
    const held = this.#held.get(caller) ?? 0;
    if (held >= this.#options.maxHeldPerCaller) return false;
    this.#held.set(caller, held + 1);
    try {
      const end = Math.min(performance.now() + HEALED_WITHIN_MS, deadline + LATE_PUBLISH_MS);
      for (let failures = 1; performance.now() < end; failures++) {
        await pause(backoffMs(failures, { baseMs: 50, maxMs: 500, leastPart: 0.5 }));
        const isTaken = await this.#isTaken(answer, deadline);
        if (isTaken !== undefined) return isTaken;
      }
      return false;
    } finally {
      const left = (this.#held.get(caller) ?? 1) - 1;
      if (left === 0) this.#held.delete(caller);
      else this.#held.set(caller, left);
    }
  }

  /** @returns false if the caller has no queue, undefined if that takes nothing now, or nothing leads to it */
  async #isTaken(answer: Envelope, deadline: number, isTransient?: boolean): Promise<boolean | undefined> {
    try {
      // Without a time to live: what waits ends with the caller's queue, and each that has one costs the broker a
      // timer.
      await this.#bus.publish(answer, {
        mandatory: true,
        isTraced: false,
        isTransient,
        timeoutMs: Math.max(LATE_PUBLISH_MS, deadline - performance.now()),
      });
      return true;
    } catch (error) {
      if (error instanceof UnroutableError) return (await this.#isThere(answer.topic)) ? undefined : false;
      if (error instanceof QueueFullError) return undefined;
      throw error; // not taken by the bus: the request comes again
    }
  }

  /** Tells whether the queue for answers on the topic has a consumer; true also if the bus does not say. */
  async #isThere(topic: string): Promise<boolean> {
    try {
      return ((await this.#bus.inspect(topic.replace(/^(tool|script)\./, "")))?.consumers ?? 0) > 0;
    } catch {
      return true;
    }
  }
}

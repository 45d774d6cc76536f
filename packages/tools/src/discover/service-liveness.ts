import type { Bus, QueueState } from "@rockbot/bus";

/**
 * An answer counts as a sign of life for this long. A busy caller then does not ask, and one that paused pays one round
 * trip to the broker.
 */
const TRUST_MS = 50;
/**
 * A bus that does not say is not asked again for this long. It may be a broker that has just come back and has enough
 * to do.
 */
const UNSAID_MS = 500;

/**
 * Tells whether a subscription has a consumer, so that a call to a dead service fails at once and not at its deadline.
 * A recent answer is believed; else the bus is asked, once for all who ask at the same time. A bus in this process is
 * always asked.
 */
export class ServiceLiveness {
  readonly #bus: Bus;
  readonly #trustMs: number;
  /** Until when each subscription is believed to be served, on the clock of `performance.now()`. */
  readonly #believed = new Map<string, number>();
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(bus: Bus) {
    this.#bus = bus;
    this.#trustMs = bus.traits.isDurable ? TRUST_MS : 0;
  }

  saw(subscription: string): void {
    this.#believe(subscription, this.#trustMs);
  }

  doubt(subscription: string): void {
    this.#believed.delete(subscription);
  }

  /** Tells whether it is known without a question. */
  isBelieved(subscription: string): boolean {
    return this.#trustMs > 0 && performance.now() < (this.#believed.get(subscription) ?? 0);
  }

  /** True also if the bus does not say: then the call waits for the bus until its deadline. */
  isServed(subscription: string): boolean | Promise<boolean> {
    if (this.#trustMs === 0) return this.#ask(subscription);
    if (this.isBelieved(subscription)) return true;
    let asking = this.#asking.get(subscription);
    if (asking === undefined) {
      asking = this.#ask(subscription).finally(() => this.#asking.delete(subscription));
      this.#asking.set(subscription, asking);
    }
    return asking;
  }

  /** The subscription's queue as the bus sees it now: without consumers if there is none, undefined if it does not say. */
  async stateOf(subscription: string): Promise<QueueState | undefined> {
    if (!this.#bus.isReady) return undefined;
    return this.#bus.inspect(subscription).then(
      (state) => state ?? { consumers: 0, messages: 0 },
      () => undefined,
    );
  }

  async #ask(subscription: string): Promise<boolean> {
    if (!this.#bus.isReady) return true;
    try {
      const state = await this.#bus.inspect(subscription);
      if (state === undefined || state.consumers === 0) return false;
    } catch {
      this.#believe(subscription, UNSAID_MS);
      return true;
    }
    this.saw(subscription);
    return true;
  }

  #believe(subscription: string, ms: number): void {
    this.#believed.set(subscription, performance.now() + ms);
  }
}

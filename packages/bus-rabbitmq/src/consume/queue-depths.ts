import type { QueuePart, QueueState } from "@rockbot/bus";
import type { QueueDepth } from "../metrics.ts";
import { mainNames, type QueueVersions, queueName } from "../queue-plan.ts";

/** The broker is asked this often at most, however many read the metrics. */
const ASK_EVERY_MS = 5_000;

const PARTS = ["main", "retry", "dlq", "parked"] as const satisfies readonly QueuePart[];

/** Asks the broker; undefined while there is no connection to it. */
type Inspect = (queue: string, isConsumed: boolean) => Promise<QueueState | undefined> | undefined;

/** What lies in the queues of a service at the broker. Nobody asks it while nobody reads metrics. */
export class QueueDepths {
  readonly #subscription: string;
  readonly #versions: QueueVersions;
  readonly #inspect: Inspect;
  #asking: Promise<readonly QueueDepth[]> = Promise.resolve([]);
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(subscription: string, versions: QueueVersions, inspect: Inspect) {
    this.#subscription = subscription;
    this.#versions = versions;
    this.#inspect = inspect;
  }

  /**
   * Reads depths that are at most five seconds old. A queue of which the broker says nothing is left out: an old number
   * would look like news.
   */
  read(): Promise<readonly QueueDepth[]> {
    const now = performance.now();
    if (now - this.#askedAt >= ASK_EVERY_MS) {
      this.#askedAt = now;
      this.#asking = this.#ask();
    }
    return this.#asking;
  }

  async #ask(): Promise<readonly QueueDepth[]> {
    const answers = await Promise.allSettled(PARTS.map((part) => this.#depthOf(part)));
    return answers.flatMap((answer) =>
      answer.status === "fulfilled" && answer.value !== undefined ? [answer.value] : [],
    );
  }

  /** Main queues of earlier releases count, too: their instances drain them. */
  async #depthOf(part: (typeof PARTS)[number]): Promise<QueueDepth | undefined> {
    const names =
      part === "main" ? mainNames(this.#subscription, this.#versions) : [queueName(this.#subscription, part)];
    const states = await Promise.all(names.map((name) => this.#inspect(name, part !== "parked")));
    const [current] = states;
    if (current === undefined) return undefined;
    return {
      queue: part,
      messages: states.reduce((sum, state) => sum + (state?.messages ?? 0), 0),
      consumers: current.consumers,
    };
  }
}

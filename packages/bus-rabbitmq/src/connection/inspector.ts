import { BusUnavailableError, type QueueState } from "@rockbot/bus";
import type { Channel } from "amqplib";
import type { ConnectionSupervisor } from "./connection-supervisor.ts";
import { type Link, NoAnswerError } from "./link.ts";
import { NOT_FOUND } from "./refusal.ts";

/** An answer takes a few milliseconds; a caller that asks wants to know before it waits for anything else. */
const ANSWER_MS = 500;
const CONNECTION_MS = 500;
/**
 * RabbitMQ asks the process of a quorum queue. If that has not answered after 250 ms, RabbitMQ says that the queue has
 * neither messages nor consumers (`rabbit_quorum_queue:stat`, in 3.10 as in 4.x).
 */
const UNHEARD_MS = 250;
/** After a connection was lost, others' are most likely back by then too: the longest backoff, and time to connect. */
const SETTLING_MS = 5_000;

/**
 * A channel that stays open for questions: to open and close one for each costs the broker three times what the
 * question does.
 */
interface AskingChannel {
  readonly link: Link;
  readonly opening: Promise<Channel>;
}

/** Asks the broker for the state of queues. Concurrent callers that ask for the same queue share the answer. */
export class Inspector {
  readonly #supervisor: ConnectionSupervisor;
  readonly #asking = new Map<string, Promise<QueueState | undefined>>();
  #channel: AskingChannel | undefined;

  constructor(supervisor: ConnectionSupervisor) {
    this.#supervisor = supervisor;
  }

  /**
   * Answers as Bus.inspect promises. @param isConsumed whether the queue is one that has consumers while its service
   * runs
   */
  inspect(queue: string, isConsumed: boolean): Promise<QueueState | undefined> {
    const asking = this.#asking.get(queue);
    if (asking !== undefined) return asking;
    const answer = this.#ask(queue, isConsumed).finally(() => this.#asking.delete(queue));
    this.#asking.set(queue, answer);
    return answer;
  }

  async #ask(queue: string, isConsumed: boolean): Promise<QueueState | undefined> {
    const link = await this.#supervisor.whenUp(CONNECTION_MS);
    const { state, ms } = await this.#declarePassively(link, queue);
    if (state?.consumers === 0 && state.messages === 0 && ms >= UNHEARD_MS) {
      throw new BusUnavailableError(
        `Cannot inspect "${queue}": the broker took so long that its answer may stand for none`,
      );
    }
    const isSettling = performance.now() - (this.#supervisor.returnedAt ?? Number.NEGATIVE_INFINITY) < SETTLING_MS;
    // A broker that has just come back has no consumers because they have not come back yet, which is no news of them.
    if (isSettling && isConsumed && state?.consumers === 0) {
      throw new BusUnavailableError(
        `Cannot inspect "${queue}": the broker has just come back, and its consumers may be about to`,
      );
    }
    return state;
  }

  /** @returns what the broker says, and how long it took for that */
  async #declarePassively(
    link: Link,
    queue: string,
    isSecondTry = false,
  ): Promise<{ readonly state: QueueState | undefined; readonly ms: number }> {
    const asking = this.#channelOn(link);
    let askedAt = performance.now();
    const answer = asking.opening.then((channel) => {
      askedAt = performance.now();
      return channel.checkQueue(queue);
    });
    try {
      const { consumerCount, messageCount } = await link.answerWithin(ANSWER_MS, "queue.declare", answer);
      return { state: { consumers: consumerCount, messages: messageCount }, ms: performance.now() - askedAt };
    } catch (error) {
      this.#leave(asking); // the broker has closed it, or owes an answer on it
      if ((error as { readonly code?: unknown }).code === NOT_FOUND)
        return { state: undefined, ms: performance.now() - askedAt };
      // A queue that is not there closes the channel for those who asked for others, too.
      if (!isSecondTry && !link.signal.aborted && !(error instanceof NoAnswerError))
        return this.#declarePassively(link, queue, true);
      throw new BusUnavailableError(`Cannot inspect "${queue}": ${(error as Error).message}`, { cause: error });
    }
  }

  #channelOn(link: Link): AskingChannel {
    if (this.#channel?.link === link) return this.#channel;
    const opening = link.openChannel();
    const asking = { link, opening };
    this.#channel = asking;
    return asking;
  }

  #leave(asking: AskingChannel): void {
    if (this.#channel !== asking) return;
    this.#channel = undefined;
    asking.opening.then((channel) => channel.close()).catch(() => {}); // it may be closed already
  }
}

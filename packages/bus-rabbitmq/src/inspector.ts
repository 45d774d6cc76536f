import { BusUnavailableError, type QueueState } from "@rockbot/bus";
import type { ConnectionSupervisor } from "./connection-supervisor.ts";
import { onScratchChannel } from "./topology.ts";

/** An answer takes a few milliseconds; a caller that asks wants to know before it waits for anything else. */
const ANSWER_MS = 500;
const CONNECTION_MS = 500;

/** Asks the broker for the state of queues. Those who ask for the same queue at the same time share the answer. */
export class Inspector {
  readonly #supervisor: ConnectionSupervisor;
  readonly #asking = new Map<string, Promise<QueueState | undefined>>();

  constructor(supervisor: ConnectionSupervisor) {
    this.#supervisor = supervisor;
  }

  inspect(queue: string): Promise<QueueState | undefined> {
    const asking = this.#asking.get(queue);
    if (asking !== undefined) return asking;
    const answer = this.#ask(queue).finally(() => this.#asking.delete(queue));
    this.#asking.set(queue, answer);
    return answer;
  }

  async #ask(queue: string): Promise<QueueState | undefined> {
    const link = await this.#supervisor.whenUp(CONNECTION_MS);
    try {
      return await link.answer(
        "queue.declare",
        onScratchChannel(link, async (channel) => {
          const { consumerCount, messageCount } = await channel.checkQueue(queue);
          return { consumers: consumerCount, messages: messageCount };
        }),
        ANSWER_MS,
      );
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === 404) return undefined;
      throw new BusUnavailableError(`Cannot inspect "${queue}": ${(error as Error).message}`, { cause: error });
    }
  }
}

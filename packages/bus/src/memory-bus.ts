import type { Envelope } from "@rockbot/contracts";
import {
  type Bus,
  type Handler,
  MAX_BODY_BYTES,
  type ParkedVisitor,
  type PublishOptions,
  type QueuePart,
  type QueueState,
  RESULT_QUEUE_EXPIRES_MS,
  type SubscribeOptions,
  type VisitParkedOptions,
} from "./bus.ts";
import { BusClosedError, MessageTooLargeError, QueueFullError, SubscriptionConflictError, UnroutableError } from "./bus-errors.ts";
import { checkSubscribeOptions } from "./check-subscribe-options.ts";
import { type Logger, silentLogger } from "./logger.ts";
import { MemoryQueue } from "./memory-queue.ts";
import { matchesTopic } from "./topic.ts";
import { traceBus } from "./trace-bus.ts";

/** Settings of an in-memory bus. */
export interface MemoryBusOptions {
  readonly log?: Logger | undefined;
  /** A queue of this many messages takes no more. @default 10_000 */
  readonly maxQueueLength?: number | undefined;
  /** A queue that holds this many bytes takes no more. @default 256 MiB */
  readonly maxQueueBytes?: number | undefined;
}

/** A bus inside one process. Keeps the promises of Bus but these: nothing outlives the process, and no sender is verified. */
export function createMemoryBus(options: MemoryBusOptions = {}): Bus {
  return traceBus(new MemoryBus(options));
}

/** At most this many topics are remembered with the queues they lead to. */
const MAX_ROUTES = 10_000;

const TAKEN = Promise.resolve();

class MemoryBus implements Bus {
  readonly traits = { isDurable: false, verifiesSender: false };
  readonly #log: Logger;
  readonly #maxQueueLength: number;
  readonly #maxQueueBytes: number;
  readonly #queues = new Map<string, MemoryQueue>();
  readonly #copies = new Set<MemoryQueue>();
  readonly #routes = new Map<string, MemoryQueue[]>();
  readonly #subscriptions = new Set<AsyncDisposable>();
  readonly #expiries = new Map<string, NodeJS.Timeout>();
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor({ log = silentLogger, maxQueueLength = 10_000, maxQueueBytes = 256 * 1024 * 1024 }: MemoryBusOptions) {
    this.#log = log;
    this.#maxQueueLength = maxQueueLength;
    this.#maxQueueBytes = maxQueueBytes;
  }

  readonly isBlocked = false; // a queue that is full refuses

  get isReady(): boolean {
    return this.#closing === undefined;
  }

  publish(message: Envelope, options: PublishOptions = {}): Promise<void> {
    const obstacle = this.#push(message, options);
    return obstacle === undefined ? TAKEN : Promise.reject(obstacle);
  }

  /** @returns why the message is not taken */
  #push(message: Envelope, { mandatory = false, signal }: PublishOptions): unknown {
    if (this.#isClosed) return new BusClosedError(`Cannot publish to "${message.topic}": the bus is closed`);
    if (signal?.aborted) return signal.reason;
    if (message.body.byteLength > MAX_BODY_BYTES) {
      return new MessageTooLargeError(
        `Cannot publish to "${message.topic}": the body has ${message.body.byteLength} bytes, at most ${MAX_BODY_BYTES} are carried`,
      );
    }
    const queues = this.#route(message.topic);
    if (queues.length === 0 && mandatory) return new UnroutableError(`Cannot publish to "${message.topic}": nobody subscribes to it`);
    for (const queue of queues) {
      const isFull = queue.length >= this.#maxQueueLength || queue.bytes + message.body.byteLength > this.#maxQueueBytes;
      if (isFull) return new QueueFullError(`Cannot publish to "${message.topic}": a queue that should take it is full`);
    }
    for (const queue of queues) queue.push(message);
    return undefined;
  }

  async subscribe(options: SubscribeOptions, handler: Handler): Promise<AsyncDisposable> {
    const checked = checkSubscribeOptions(options);
    const { name, kind, topics } = checked;
    if (this.#closing !== undefined) throw new BusClosedError(`Cannot subscribe as "${name}": the bus is closed`);
    const queue = (kind === "copy" ? undefined : this.#queues.get(name)) ?? new MemoryQueue(checked, this.#log);
    if (queue.kind !== kind) throw new SubscriptionConflictError(`Cannot subscribe as "${name}" of kind ${kind}: it exists with kind ${queue.kind}`);
    if (kind === "copy") this.#copies.add(queue);
    else this.#queues.set(name, queue);
    clearTimeout(this.#expiries.get(name));
    for (const topic of topics) queue.topics.add(topic);
    this.#routes.clear();

    const consuming = queue.consume(checked, handler);
    let disposed: Promise<void> | undefined;
    const subscription: AsyncDisposable = {
      [Symbol.asyncDispose]: () => {
        disposed ??= (async () => {
          if (kind === "copy") this.#remove(name, queue);
          await consuming[Symbol.asyncDispose]();
          this.#subscriptions.delete(subscription);
          if (this.#closing !== undefined) checked.onBusClosed?.();
          if (kind === "result" && queue.consumers === 0) {
            this.#expiries.set(name, setTimeout(() => this.#remove(name, queue), RESULT_QUEUE_EXPIRES_MS).unref());
          }
        })();
        return disposed;
      },
    };
    this.#subscriptions.add(subscription);
    return subscription;
  }

  async inspect(name: string, part: QueuePart = "main"): Promise<QueueState | undefined> {
    const queue = this.#queues.get(name);
    return queue === undefined || (part !== "main" && queue.kind !== "service") ? undefined : queue.state(part);
  }

  async visitParked(name: string, visit: ParkedVisitor, options: VisitParkedOptions = {}): Promise<number | undefined> {
    if (this.#isClosed) throw new BusClosedError(`Cannot look at the parked messages of "${name}": the bus is closed`);
    const queue = this.#queues.get(name);
    return queue?.kind === "service" ? queue.parked.visit(visit, options) : undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // While handlers finish they may still publish answers, so publishing ends last.
    await Promise.all([...this.#subscriptions].map((subscription) => subscription[Symbol.asyncDispose]()));
    this.#isClosed = true;
    for (const timer of this.#expiries.values()) clearTimeout(timer);
  }

  #remove(name: string, queue: MemoryQueue): void {
    if (queue.kind === "copy") this.#copies.delete(queue);
    else this.#queues.delete(name);
    this.#routes.clear();
  }

  #route(topic: string): MemoryQueue[] {
    const known = this.#routes.get(topic);
    if (known !== undefined) return known;
    const queues = [...this.#queues.values(), ...this.#copies].filter((queue) => [...queue.topics].some((pattern) => matchesTopic(pattern, topic)));
    if (this.#routes.size >= MAX_ROUTES) this.#routes.clear();
    this.#routes.set(topic, queues);
    return queues;
  }
}

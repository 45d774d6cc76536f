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
import {
  BusClosedError,
  MessageTooLargeError,
  QueueFullError,
  SubscriptionConflictError,
  SubscriptionTakenError,
  UnroutableError,
} from "./bus-errors.ts";
import { type CheckedSubscribeOptions, checkSubscribeOptions } from "./check-subscribe-options.ts";
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

/**
 * A bus inside one process. Keeps the promises of Bus but these: nothing outlives the process, and no sender is
 * verified.
 */
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
  /** The queues that no other subscription shares. */
  readonly #copies = new Set<MemoryQueue>();
  /** By the name of a subscription of kind `result` that has an owner: makes its successor the owner. */
  readonly #successors = new Map<string, () => void>();
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
  #push(message: Envelope, { mandatory = false, signal, lane }: PublishOptions): unknown {
    if (this.#isClosed) return new BusClosedError(`Cannot publish to "${message.topic}": the bus is closed`);
    if (signal?.aborted) return signal.reason;
    if (message.body.byteLength > MAX_BODY_BYTES) {
      return new MessageTooLargeError(
        `Cannot publish to "${message.topic}": the body has ${message.body.byteLength} bytes, at most ${MAX_BODY_BYTES} are carried`,
      );
    }
    const queues = this.#route(message.topic, lane);
    if (queues.length === 0 && mandatory)
      return new UnroutableError(`Cannot publish to "${message.topic}": nobody subscribes to it`);
    for (const queue of queues) {
      const isFull =
        queue.length >= this.#maxQueueLength || queue.bytes + message.body.byteLength > this.#maxQueueBytes;
      if (isFull)
        return new QueueFullError(`Cannot publish to "${message.topic}": a queue that should take it is full`);
    }
    for (const queue of queues) queue.push(message);
    return undefined;
  }

  async subscribe(options: SubscribeOptions, handler: Handler): Promise<AsyncDisposable> {
    const checked = checkSubscribeOptions(options);
    const { kind, topics, lane } = checked;
    const name = lane === undefined ? checked.name : laneName(checked.name);
    if (this.#closing !== undefined) throw new BusClosedError(`Cannot subscribe as "${name}": the bus is closed`);
    const known = kind === "copy" ? undefined : this.#queues.get(name);
    if (known !== undefined && known.kind !== kind)
      throw new SubscriptionConflictError(
        `Cannot subscribe as "${name}" of kind ${kind}: it exists with kind ${known.kind}`,
      );
    if (known !== undefined && kind === "result" && known.consumers > 0) return this.#succeed(known, checked, handler);
    const queue = known ?? new MemoryQueue(checked, this.#log);
    if (kind === "copy") this.#copies.add(queue);
    else this.#queues.set(name, queue);
    this.#lead(queue, topics);
    const consuming = this.#consume(queue, checked, handler);
    return this.#keep(checked, async () => {
      if (kind === "copy") this.#drop(queue);
      await consuming[Symbol.asyncDispose]();
    });
  }

  /** Subscribes once more to a queue that has an owner, as promised of SubscriptionKind. */
  #succeed(queue: MemoryQueue, checked: CheckedSubscribeOptions, handler: Handler): AsyncDisposable {
    const { name, topics } = checked;
    if (this.#successors.has(name)) {
      throw new SubscriptionTakenError(
        `Cannot subscribe as "${name}": two others receive its messages. Give each process a name of its own`,
      );
    }
    this.#log.warn(
      { subscription: name },
      "another process or connection receives the messages of this subscription, so each comes to both",
    );
    const copies = new MemoryQueue(checked, this.#log);
    this.#copies.add(copies);
    this.#lead(copies, topics);
    const consuming = [copies.consume(checked, handler)];
    const becomeOwner = (): void => {
      this.#successors.delete(name);
      this.#drop(copies); // what it has is still handled
      this.#lead(queue, topics);
      consuming.push(this.#consume(queue, checked, handler));
    };
    this.#successors.set(name, becomeOwner);
    return this.#keep(checked, async () => {
      if (this.#successors.get(name) === becomeOwner) this.#successors.delete(name);
      this.#drop(copies);
      await Promise.all(consuming.map((each) => each[Symbol.asyncDispose]()));
    });
  }

  #lead(queue: MemoryQueue, topics: readonly string[]): void {
    for (const topic of topics) queue.topics.add(topic);
    this.#routes.clear();
  }

  /** Consumes a queue. If that was the last consumer of answers, its successor is next, or the queue has an end. */
  #consume(queue: MemoryQueue, checked: CheckedSubscribeOptions, handler: Handler): AsyncDisposable {
    const { name, kind } = checked;
    if (kind !== "copy") clearTimeout(this.#expiries.get(name));
    const consuming = queue.consume(checked, handler);
    return {
      [Symbol.asyncDispose]: async () => {
        await consuming[Symbol.asyncDispose]();
        if (kind !== "result" || queue.consumers > 0) return;
        const succeed = this.#successors.get(name);
        if (succeed === undefined)
          this.#expiries.set(name, setTimeout(() => this.#expire(name), RESULT_QUEUE_EXPIRES_MS).unref());
        else succeed();
      },
    };
  }

  /** A subscription that is disposed of once, and at the latest with the bus. */
  #keep({ onBusClosed }: CheckedSubscribeOptions, end: () => Promise<void>): AsyncDisposable {
    let disposed: Promise<void> | undefined;
    const subscription: AsyncDisposable = {
      [Symbol.asyncDispose]: () => {
        disposed ??= end().then(() => {
          this.#subscriptions.delete(subscription);
          if (this.#closing !== undefined) onBusClosed?.();
        });
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

  #drop(copies: MemoryQueue): void {
    this.#copies.delete(copies);
    this.#routes.clear();
  }

  #expire(name: string): void {
    this.#queues.delete(name);
    this.#routes.clear();
  }

  #route(topic: string, lane: PublishOptions["lane"]): MemoryQueue[] {
    const key = lane === undefined ? topic : laneName(topic);
    const known = this.#routes.get(key);
    if (known !== undefined) return known;
    const queues = [...this.#queues.values(), ...this.#copies].filter(
      (queue) => queue.lane === lane && [...queue.topics].some((pattern) => matchesTopic(pattern, topic)),
    );
    if (this.#routes.size >= MAX_ROUTES) this.#routes.clear();
    this.#routes.set(key, queues);
    return queues;
  }
}

/** Told from all names of subscriptions and from all topics. */
const laneName = (name: string): string => `${name} fast`;

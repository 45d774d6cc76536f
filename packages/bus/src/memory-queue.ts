import { AsyncLocalStorage } from "node:async_hooks";
import { within } from "@rockbot/base";
import type { Envelope } from "@rockbot/contracts";
import {
  type Death,
  type Handler,
  MAX_PARKED_BODY_BYTES,
  type ParkingReason,
  type QueuePart,
  type QueueState,
} from "./bus.ts";
import { BusClosedError, DeadLetterError } from "./bus-errors.ts";
import type { CheckedSubscribeOptions } from "./check-subscribe-options.ts";
import type { Logger } from "./logger.ts";
import { MemoryParked } from "./memory-parked.ts";

interface Waiting {
  readonly message: Envelope;
  /** Both on the clock of `performance.now()`. */
  readonly pushedAt: number;
  readonly expiresAt: number;
  readonly isRedelivered: boolean;
}

interface Consumer {
  readonly options: CheckedSubscribeOptions;
  readonly handler: Handler;
  readonly stop: AbortController;
  running: number;
  /** Resolves `idle` when the last running handler has ended. */
  onIdle: (() => void) | undefined;
}

type OnFailure = (consumer: Consumer, waiting: Waiting, error: unknown) => Promise<void>;

/**
 * Calls in nobody's async context: the context of a publisher or a subscriber is not that of the messages of others.
 */
const outside = AsyncLocalStorage.snapshot();

/**
 * One queue of the in-memory bus: messages in order, handed to consumers in turn, failures as SubscriptionKind says.
 */
export class MemoryQueue {
  readonly kind: CheckedSubscribeOptions["kind"];
  readonly lane: CheckedSubscribeOptions["lane"];
  readonly topics = new Set<string>();
  readonly parked = new MemoryParked();
  readonly #log: Logger;
  readonly #name: string;
  readonly #consumers: Consumer[] = [];
  /** The messages that wait, from `#head` on. */
  #waiting: (Waiting | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #isScheduled = false;
  #next = 0;

  constructor(options: CheckedSubscribeOptions, log: Logger) {
    this.#name = options.name;
    this.kind = options.kind;
    this.lane = options.lane;
    this.#log = log;
  }

  get consumers(): number {
    return this.#consumers.length;
  }

  /** Messages that wait. */
  get length(): number {
    return this.#waiting.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  state(part: QueuePart): QueueState {
    const messages = { main: this.#waiting.length - this.#head, retry: 0, dlq: 0, parked: this.parked.length }[part];
    return { consumers: part === "parked" ? 0 : this.consumers, messages };
  }

  push(message: Envelope): void {
    const { ttlMs } = message;
    const pushedAt = performance.now();
    this.#waiting.push({
      message,
      pushedAt,
      expiresAt: ttlMs === undefined ? Number.POSITIVE_INFINITY : pushedAt + ttlMs,
      isRedelivered: false,
    });
    this.#bytes += message.body.byteLength;
    this.#schedule();
  }

  consume(options: CheckedSubscribeOptions, handler: Handler): AsyncDisposable {
    const consumer: Consumer = { options, handler, stop: new AbortController(), running: 0, onIdle: undefined };
    this.#consumers.push(consumer);
    this.#schedule();
    let disposed: Promise<void> | undefined;
    return { [Symbol.asyncDispose]: () => (disposed ??= this.#leave(consumer)) };
  }

  async #leave(consumer: Consumer): Promise<void> {
    this.#consumers.splice(this.#consumers.indexOf(consumer), 1);
    if (consumer.running > 0) {
      const idle = new Promise<void>((resolve) => {
        consumer.onIdle = resolve;
      });
      await within(consumer.options.drainMs, idle, () => new Error("drain time is over")).catch(() => {});
    }
    consumer.stop.abort(new BusClosedError(`The subscription "${this.#name}" has ended`));
  }

  /** Hands out messages in a later turn of the event loop, so that a long exchange of messages starves nobody. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(outside, () => {
      this.#isScheduled = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#head < this.#waiting.length) {
      const consumer = this.#freeConsumer();
      if (consumer === undefined) return;
      const waiting = this.#waiting[this.#head] as Waiting;
      this.#waiting[this.#head++] = undefined; // else it would live on until the list is made anew
      this.#bytes -= waiting.message.body.byteLength;
      if (this.#head > 1024 && this.#head * 2 > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#head);
        this.#head = 0;
      }
      const now = performance.now();
      if (waiting.expiresAt <= now) this.#park(waiting.message, "expired");
      else void this.#run(consumer, waiting, now, this.#firstFailed);
    }
  }

  #freeConsumer(): Consumer | undefined {
    for (let tried = 0; tried < this.#consumers.length; tried++) {
      const consumer = this.#consumers[this.#next++ % this.#consumers.length] as Consumer;
      if (consumer.running < consumer.options.concurrency) return consumer;
    }
    return undefined;
  }

  /**
   * Runs the handler, in no frame but this one: each message would pay for it. The work of `failed` is part of the
   * message's turn.
   */
  async #run(consumer: Consumer, waiting: Waiting, receivedAt: number, failed: OnFailure): Promise<void> {
    const { message, isRedelivered } = waiting;
    try {
      consumer.running++;
      try {
        const maybeHandledSince = isRedelivered ? waiting.pushedAt : undefined;
        await consumer.handler(message, { signal: consumer.stop.signal, receivedAt, isRedelivered, maybeHandledSince });
      } finally {
        if (--consumer.running === 0) consumer.onIdle?.();
      }
    } catch (error) {
      await failed(consumer, waiting, error);
    }
    if (this.#head < this.#waiting.length) this.#schedule();
  }

  readonly #firstFailed: OnFailure = async (consumer, waiting, error) => {
    if (!this.#consumers.includes(consumer)) this.#giveBack(waiting);
    else if (this.kind !== "service")
      this.#log.warn({ subscription: this.#name, error: text(error) }, "dropped a message whose handler failed");
    else if (error instanceof DeadLetterError)
      await this.#die(waiting.message, { reason: "rejected", message: error.message });
    else await this.#run(consumer, { ...waiting, isRedelivered: true }, performance.now(), this.#secondFailed);
  };

  readonly #secondFailed: OnFailure = async (consumer, waiting, error) => {
    if (consumer.stop.signal.aborted) this.#giveBack(waiting);
    else
      await this.#die(
        waiting.message,
        error instanceof DeadLetterError ? { reason: "rejected", message: error.message } : { reason: "failed" },
      );
  };

  /** Messages that a consumer did not finish before its drain time was over are the next to be handed out. */
  #giveBack(waiting: Waiting): void {
    this.#waiting.splice(this.#head, 0, { ...waiting, isRedelivered: true });
    this.#bytes += waiting.message.body.byteLength;
  }

  async #die(message: Envelope, death: Death): Promise<void> {
    if (this.lane !== undefined) {
      this.#log.warn({ subscription: this.#name, error: death.reason }, "dropped a message whose handler failed");
      return;
    }
    try {
      await this.#consumers[0]?.options.onDeadLetter?.(message, death);
    } catch (error) {
      this.#log.warn({ subscription: this.#name, error: text(error) }, "could not answer a dead letter");
    }
    this.#park(message, death.reason, death.message);
  }

  #park(message: Envelope, reason: ParkingReason, why?: string): void {
    if (this.kind !== "service" || this.lane !== undefined) return;
    const about = { subscription: this.#name, topic: message.topic, messageId: message.messageId, reason };
    if (message.body.byteLength > MAX_PARKED_BODY_BYTES) {
      this.#log.warn(about, "dropped a message that is too large to park");
      return;
    }
    this.#log.warn(about, "parked a message");
    this.parked.add({ message, reason, why, parkedAt: Date.now(), sentAt: message.timestamp * 1000 });
  }
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

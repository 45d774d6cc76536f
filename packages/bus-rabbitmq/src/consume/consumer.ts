import { LinkedList, type ListEntry, within } from "@rockbot/base";
import type { Channel } from "amqplib";
import type { Link } from "../connection/link.ts";
import { numberOf } from "../wire/amqplib-internals.ts";
import type { IncomingMessage } from "../wire/read-frames.ts";
import type { Slots } from "./slots.ts";
import { Unacked } from "./unacked.ts";

/** The outcome of a delivery: it is done, it goes to the queue's dead letters, or it comes again. */
export type Verdict = "done" | "reject" | "again";

/**
 * Handles a delivery, and calls `settle` once with its outcome, which is cheaper than a promise. It never does so
 * before it has returned. Must not throw. `isOurs` is that of the Delivery, `receivedAt` is on the clock of
 * `performance.now()`.
 */
export type Handle = (
  message: IncomingMessage,
  receivedAt: number,
  settle: (verdict: Verdict) => void,
  isOurs?: () => Promise<boolean>,
) => void;

export interface ConsumerOptions {
  /** How many deliveries the broker hands out before it wants answers. */
  readonly prefetch: number;
  /** The broker hands a message to the consumer of the highest number that has room. @default 0 */
  readonly priority?: number | undefined;
  /** True if no other may consume the queue. @default false */
  readonly isExclusive?: boolean | undefined;
  /** Places for handlers; shared by the consumers of one subscription. */
  readonly slots: Slots;
  readonly handle: Handle;
  /** A message was dropped, as its headers cannot be read. */
  readonly onUnreadable: () => void;
  /**
   * The consumer has ended although nobody asked for it and its connection is up: its queue is gone, or its channel.
   */
  readonly onInterrupted: (reason: string) => void;
}

interface Unstarted {
  readonly deliveryTag: number;
  /** Its place in the queue for a slot; none if it came too late for that. */
  readonly waiting: ListEntry | undefined;
}

/** The part of the prefetch whose acks may be held back for a while: as small as leaves the broker free to deliver. */
const ACKS_PER_PREFETCH = 8;
/** How long the broker may take to end a consumer, and to close its channel. */
const GOODBYE_MS = 1_000;

/**
 * One consumer on one channel. It ends with its channel; acks for a channel that has ended are dropped, since the
 * broker delivers those messages again.
 */
export class Consumer {
  readonly #link: Link;
  readonly #channel: Channel;
  readonly #number: number;
  readonly #options: ConsumerOptions;
  readonly #unacked: Unacked;
  /** Deliveries that no handler has seen yet. */
  readonly #unstarted = new LinkedList<Unstarted>();
  #tag: string | undefined;
  /** The question to the broker that is out, and the one after it: all who ask meanwhile share that. */
  #asked: Promise<boolean> = Promise.resolve(true);
  #askedNext: Promise<boolean> | undefined;
  #isOpen = true;
  #isStopping = false;

  private constructor(link: Link, channel: Channel, options: ConsumerOptions) {
    this.#link = link;
    this.#channel = channel;
    this.#number = numberOf(channel);
    this.#options = options;
    this.#unacked = new Unacked(
      (tag, isMultiple) => {
        if (this.#isOpen) link.outbox.ack(this.#number, tag, isMultiple);
      },
      {
        batch: Math.ceil(options.prefetch / ACKS_PER_PREFETCH),
        atEndOfTurn: (flush) => link.outbox.atEndOfTurn(flush),
      },
    );
    let cause = "its channel was closed";
    channel.on("error", (error) => {
      cause = error.message;
    });
    channel.on("close", () => this.#end(cause));
    link.listen(channel, { onMessage: (message) => this.#receive(message), onUnreadable: (tag) => this.#drop(tag) });
  }

  /** Resolves once messages are flowing from `queue`. */
  static async open(link: Link, queue: string, options: ConsumerOptions): Promise<Consumer> {
    const channel = await link.openChannel();
    const consumer = new Consumer(link, channel, options);
    link.signal.throwIfAborted(); // then the channel's end was before anybody listened
    try {
      await consumer.#consume(queue);
      if (!consumer.#isOpen) consumer.#interrupted("its channel was closed at once");
      return consumer;
    } catch (error) {
      consumer.#isStopping = true;
      (async () => channel.close())().catch(() => {}); // fails if the broker has closed it already
      throw error;
    }
  }

  async #consume(queue: string): Promise<void> {
    const { prefetch, priority, isExclusive = false } = this.#options;
    await this.#link.answer("basic.qos", this.#channel.prefetch(prefetch));
    const { consumerTag } = await this.#link.answer(
      "basic.consume",
      this.#channel.consume(
        queue,
        (message) => {
          if (message === null) this.#end("its queue was deleted"); // what is no such end is heard below amqplib
        },
        { exclusive: isExclusive, ...(priority === undefined ? {} : { priority }) },
      ),
    );
    this.#tag = consumerTag;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Asks for no more messages, and gives back at once those for which there is no place. */
  async stop(): Promise<void> {
    if (!this.#isOpen || this.#isStopping) return;
    this.#isStopping = true;
    for (const { waiting } of this.#unstarted) waiting?.remove();
    const tag = this.#tag;
    if (tag !== undefined) {
      const cancelled = this.#link.answerWithin(GOODBYE_MS, "basic.cancel", this.#channel.cancel(tag));
      await cancelled.catch(() => {}); // a slow broker does it later: closing the channel comes next
    }
    for (const { deliveryTag } of this.#unstarted.drain()) {
      this.#unacked.remove(deliveryTag);
      this.#giveBack(deliveryTag, true);
    }
  }

  /** Sends the acks that are due and closes the channel; the broker takes back what was not acked. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isStopping = true;
    this.#unacked.flush();
    this.#link.outbox.flush();
    this.#isOpen = false;
    const closed = (async () => this.#channel.close())(); // throws at once if it is closed already
    await within(GOODBYE_MS, closed, () => new Error("no answer")).catch(() => {});
  }

  #receive(message: IncomingMessage): void {
    if (!this.#isOpen) return; // it comes again, elsewhere
    const { deliveryTag } = message.fields;
    const { slots } = this.#options;
    const receivedAt = performance.now();
    this.#unacked.add(deliveryTag);
    // A delivery that was on its way when the consumer was ended is handled if that can be at once. If it were given
    // back, nobody could tell it from a delivery that was begun.
    if (slots.tryEnter()) {
      this.#start(message, receivedAt);
    } else if (this.#isStopping) {
      this.#unstarted.add({ deliveryTag, waiting: undefined });
    } else {
      const waiting = slots.enterLater(() => {
        unstarted.remove();
        this.#start(message, receivedAt);
      });
      const unstarted = this.#unstarted.add({ deliveryTag, waiting });
    }
  }

  #start(message: IncomingMessage, receivedAt: number): void {
    const { deliveryTag } = message.fields;
    this.#options.handle(message, receivedAt, (verdict) => this.#settle(deliveryTag, verdict), this.#holds);
  }

  /**
   * Asks whether the broker still counts this consumer's deliveries as its own. A process that stood still learns last
   * that it has lost its connection. One round trip at a time serves all who ask.
   */
  readonly #holds = (): Promise<boolean> => {
    this.#askedNext ??= this.#asked.then(() => {
      this.#askedNext = undefined;
      this.#asked = this.#ask();
      return this.#asked;
    });
    return this.#askedNext;
  };

  async #ask(): Promise<boolean> {
    if (!this.#isOpen) return false;
    try {
      await this.#link.answer("basic.qos", this.#channel.prefetch(this.#options.prefetch)); // as it is: any question does
    } catch {
      this.#end("its channel does not answer"); // no ack may follow: the deliveries are others'
    }
    return this.#isOpen;
  }

  #drop(deliveryTag: number): void {
    if (!this.#isOpen) return;
    this.#unacked.add(deliveryTag);
    this.#unacked.finish(deliveryTag);
    this.#options.onUnreadable();
  }

  #settle(deliveryTag: number, verdict: Verdict): void {
    if (verdict === "done") {
      this.#unacked.finish(deliveryTag);
    } else {
      this.#unacked.remove(deliveryTag);
      this.#giveBack(deliveryTag, verdict === "again");
    }
    this.#options.slots.leave();
  }

  /** @param isRequeued whether it comes again, or goes to the queue's dead letters */
  #giveBack(deliveryTag: number, isRequeued: boolean): void {
    if (this.#isOpen) this.#link.outbox.nack(this.#number, deliveryTag, isRequeued);
  }

  #end(reason: string): void {
    if (!this.#isOpen) return;
    const isExpected = this.#isStopping || this.#link.signal.aborted;
    this.#isOpen = false;
    this.#link.outbox.flush(); // before amqplib confirms the end: after it the channel's number means another channel
    for (const { waiting } of this.#unstarted.drain()) waiting?.remove();
    if (isExpected || this.#tag === undefined) return; // one that never began fails
    // A consumer whose queue was deleted still has its channel.
    (async () => this.#channel.close())().catch(() => {});
    this.#interrupted(reason);
  }

  #interrupted(reason: string): void {
    // When a whole connection ends, its channels are the first to say so: that is no interruption.
    setImmediate(() => {
      if (!this.#link.signal.aborted) this.#options.onInterrupted(reason);
    });
  }
}

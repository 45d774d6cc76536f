import type { Channel, Message } from "amqplib";
import type { Link } from "../connection/link.ts";
import { numberOf } from "../wire/amqplib-internals.ts";
import type { PublishJob } from "./publish-job.ts";

export interface AskingChannelOptions {
  /** The broker has these messages, or has sent them back. */
  readonly onTaken: (jobs: readonly PublishJob[]) => void;
  /** The channel has ended, and the broker may have any of these messages. */
  readonly onGone: (jobs: readonly PublishJob[], cause: Error | undefined) => void;
  /** A message came back by the same channel, before the answer to the next question. */
  readonly onReturn: (message: Message, jobs: Iterable<PublishJob>) => void;
}

/**
 * Publishes what is carried in the broker's memory alone. A confirm for each such message costs the broker as much as
 * the message. So it is asked a question when a turn of the event loop ends, one at a time: it answers in the order of
 * what it got, and so has all that was written before. It does not say which queues were full.
 */
export class AskingChannel {
  readonly #link: Link;
  readonly #channel: Channel;
  readonly #number: number;
  readonly #options: AskingChannelOptions;
  /** The messages before the question that is out, and those after it. */
  #asked: readonly PublishJob[] = [];
  #written: PublishJob[] = [];
  #isAsking = false;
  #bytes = 0;

  private constructor(link: Link, channel: Channel, options: AskingChannelOptions) {
    this.#link = link;
    this.#channel = channel;
    this.#number = numberOf(channel);
    this.#options = options;
  }

  static async open(link: Link, options: AskingChannelOptions): Promise<AskingChannel> {
    const channel = await link.openChannel();
    const asking = new AskingChannel(link, channel, options);
    let cause: Error | undefined;
    channel.on("error", (error) => {
      cause = error;
    });
    channel.on("return", (message) => options.onReturn(message, asking.jobs()));
    channel.on("close", () => {
      link.outbox.flush(); // before amqplib confirms the end: after it the channel's number means another channel
      options.onGone([...asking.jobs()], cause);
    });
    link.signal.throwIfAborted(); // then "close" was before anybody listened
    return asking;
  }

  /** Messages that the broker has not spoken about. */
  get size(): number {
    return this.#asked.length + this.#written.length;
  }

  /** The bytes of all their bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws {RangeError} if a property cannot be carried: then nothing is written */
  publish(job: PublishJob): void {
    this.#link.outbox.publish(this.#number, job);
    this.#written.push(job);
    this.#bytes += job.body.byteLength;
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#link.outbox.atEndOfTurn(() => this.#ask());
  }

  #ask(): void {
    this.#link.outbox.flush(); // amqplib writes the question itself
    this.#asked = this.#written;
    this.#written = [];
    (async () => this.#channel.prefetch(0))().then(
      () => {
        const taken = this.#asked;
        this.#asked = [];
        for (const { body } of taken) this.#bytes -= body.byteLength;
        this.#isAsking = this.#written.length > 0;
        if (this.#isAsking) this.#link.outbox.atEndOfTurn(() => this.#ask());
        this.#options.onTaken(taken);
      },
      () => {}, // its channel has ended
    );
  }

  /** The same messages, in the order of publishing. */
  *jobs(): Iterable<PublishJob> {
    yield* this.#asked;
    yield* this.#written;
  }
}

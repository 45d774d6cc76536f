import { Buckets, type Charge, reasonOf, within } from "@rockbot/base";
import {
  type CheckedSubscribeOptions,
  type Death,
  type Logger,
  MAX_PARKED_BODY_BYTES,
  type ParkingReason,
  subscriptionLabel,
} from "@rockbot/bus";
import type { Envelope } from "@rockbot/contracts";
import { countDropped, countParked } from "../metrics.ts";
import { deadLetterProperties } from "../parked/dead-letter.ts";
import type { Publisher } from "../publish/publisher.ts";
import { DEAD_LETTER_EXCHANGE, queueName } from "../queue-plan.ts";
import type { IncomingMessage } from "../wire/read-frames.ts";
import type { Verdict } from "./consumer.ts";

export interface DeadLetteringOptions {
  readonly publisher: Publisher;
  /** The user that we publish as, if the broker verifies that. */
  readonly user: string | undefined;
  /** The main queue that messages are noted to have died in. */
  readonly main: string;
  readonly log: Logger;
}

/** Where a message goes, and what is noted on it. */
interface OnwardOptions {
  /** A queue. */
  readonly to: string;
  readonly reason: ParkingReason;
  readonly why: string | undefined;
  /** In milliseconds, as AMQP has it. @default it waits for as long as it takes */
  readonly expiration?: string | undefined;
}

const DEAD_LETTER_TIMEOUT_MS = 10_000;
const LAST_WORD_MS = 30_000;
/**
 * Bounds, in number and in bytes, for one sender's parked messages that nobody took in time. Each costs a copy that
 * stays for days, and nothing to make.
 */
const EXPIRED: readonly Omit<Charge, "key" | "cost">[] = [
  { amount: 1_000, perMs: 1_000_000 },
  { amount: 64 * 1024 * 1024, perMs: 1_000_000 },
];

/**
 * What becomes of the messages of a subscription that its handler has not settled: passed on, parked, or dropped and
 * counted.
 */
export class DeadLettering {
  readonly #options: CheckedSubscribeOptions;
  readonly #publisher: Publisher;
  readonly #user: string | undefined;
  readonly #main: string;
  readonly #log: Logger;
  readonly #expired = new Buckets({ maxBuckets: 10_000 });

  constructor(options: CheckedSubscribeOptions, { publisher, user, main, log }: DeadLetteringOptions) {
    this.#options = options;
    this.#publisher = publisher;
    this.#user = user;
    this.#main = main;
    this.#log = log;
  }

  /** Has the death of a message answered, if somebody wants to. Never rejects. */
  async sayLastWord(envelope: Envelope, death: Death): Promise<void> {
    try {
      const lastWord = this.#options.onDeadLetter?.(envelope, death);
      if (lastWord !== undefined)
        await within(LAST_WORD_MS, lastWord, () => new Error(`no end after ${LAST_WORD_MS} ms`));
    } catch (error) {
      this.#log.warn({ ...this.#about(envelope), error: reasonOf(error) }, "could not answer a dead letter");
    }
  }

  /** Sends a message to the dead letters. */
  async die(message: IncomingMessage, envelope: Envelope, death: Death): Promise<Verdict> {
    const { reason, message: why } = death;
    if (isTooLargeToPark(envelope)) {
      await this.sayLastWord(envelope, death);
      return this.park(message, envelope, reason, why);
    }
    await this.passOn(message, envelope, { to: queueName(this.#options.name, "dlq"), reason, why });
    return "done";
  }

  /** Parks a message that nobody took in time. One of a sender that has many parked is dropped. */
  async parkExpired(message: IncomingMessage, envelope: Envelope): Promise<Verdict> {
    const sender = envelope.userId ?? envelope.source;
    const costs = [1, message.content.byteLength];
    if (
      this.#expired.take(
        EXPIRED.map((bucket, i) => ({ ...bucket, key: `${i} ${sender}`, cost: costs[i] as number })),
      ) === undefined
    ) {
      return this.park(message, envelope, "expired");
    }
    countDropped(this.#options.name);
    return "done";
  }

  /** Keeps a message for an operator. */
  async park(message: IncomingMessage, envelope: Envelope, reason: ParkingReason, why?: string): Promise<Verdict> {
    if (isTooLargeToPark(envelope)) {
      countDropped(this.#options.name);
      this.#log.warn(
        { ...this.#about(envelope), reason, bytes: envelope.body.byteLength },
        "dropped a message that is too large to park",
      );
      return "done";
    }
    await this.passOn(message, envelope, { to: queueName(this.#options.name, "parked"), reason, why });
    countParked(this.#options.name, reason);
    this.#log.warn({ ...this.#about(envelope), reason }, "parked a message");
    return "done";
  }

  /** Publishes a message to another queue of the subscription. Resolves once the broker has it. */
  async passOn(
    message: IncomingMessage,
    envelope: Envelope,
    { to, reason, why, expiration }: OnwardOptions,
  ): Promise<void> {
    await this.#publisher.publish({
      exchange: DEAD_LETTER_EXCHANGE,
      routingKey: to,
      body: message.content,
      properties: {
        ...deadLetterProperties(message, envelope, this.#main, reason, why),
        ...(expiration === undefined ? {} : { expiration }),
        ...(this.#user === undefined ? {} : { userId: this.#user }),
      },
      mandatory: true,
      timeoutMs: DEAD_LETTER_TIMEOUT_MS,
    });
  }

  /** Drops a message that is not tried again. */
  drop(envelope: Envelope, error: unknown): Verdict {
    countDropped(this.#options.name);
    this.#log.warn({ ...this.#about(envelope), error: reasonOf(error) }, "dropped a message whose handler failed");
    return "done";
  }

  /** Lets go of a message that would come again for ever. */
  discard(why: string): Verdict {
    countDropped(subscriptionLabel(this.#options));
    this.#log.error(
      { subscription: this.#options.name, why },
      "discarded a message that can be neither handled nor answered",
    );
    return "done";
  }

  #about({ topic, messageId }: Envelope): object {
    return { subscription: this.#options.name, topic, messageId };
  }
}

const isTooLargeToPark = ({ body }: Envelope): boolean => body.byteLength > MAX_PARKED_BODY_BYTES;

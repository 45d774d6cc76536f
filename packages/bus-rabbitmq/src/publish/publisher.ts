import { Deadlines, reasonOf } from "@rockbot/base";
import {
  BusClosedError,
  BusUnavailableError,
  type Logger,
  MAX_BODY_BYTES,
  MessageTooLargeError,
  QueueFullError,
} from "@rockbot/bus";
import type { ConfirmChannel, Message } from "amqplib";
import type { AddressSource } from "../connection/address-source.ts";
import { ConnectionSupervisor } from "../connection/connection-supervisor.ts";
import type { Link, LinkOptions } from "../connection/link.ts";
import { ACCESS_REFUSED, NOT_FOUND } from "../connection/refusal.ts";
import type { Standstill } from "../connection/standstill.ts";
import { observePublisher } from "../metrics.ts";
import { declareExchanges } from "../topology.ts";
import { numberOf } from "../wire/amqplib-internals.ts";
import { type JobKeeper, type Publication, PublishJob } from "./publish-job.ts";
import { Unconfirmed } from "./unconfirmed.ts";

export interface PublisherOptions extends LinkOptions {
  readonly log: Logger;
  readonly waitsForRights?: boolean | undefined;
  readonly onOpen?: (() => void) | undefined;
  readonly onFailed?: ((isRefused: boolean) => void) | undefined;
  readonly onLost?: (() => void) | undefined;
  /** Knows when the broker stands still: it owes confirms and is silent. */
  readonly standstill: Standstill;
  /** Nobody's queue takes a message that is mandatory: a binding may be gone. */
  readonly onReturned?: (() => void) | undefined;
  /** Somebody has deleted an exchange, and with it all that was bound to it. */
  readonly onExchangeMissing?: (() => void) | undefined;
}

/** At most this many messages are on their way to the broker without its confirm. */
const MAX_UNCONFIRMED = 1024;
/** And this many bytes of them, unless one alone has more. */
const MAX_UNCONFIRMED_BYTES = 32 * 1024 * 1024;
/** More messages or bytes than this are not held back while the broker takes none. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** A message that nobody's queue takes is offered again after this long. */
const OFFER_EVERY_MS = 250;
/** How often it is looked in that time whether the broker is silent. */
const LOOKS_PER_SILENCE = 8;

/**
 * Publishes with confirms over a connection of its own: what a blocked connection stalls must not be acks. Keeps the
 * order, bounds what is unconfirmed, and publishes again what was not confirmed when a connection was lost.
 */
export class Publisher {
  readonly #supervisor: ConnectionSupervisor;
  readonly #log: Logger;
  readonly #keeper: JobKeeper;
  readonly #onExchangeMissing: (() => void) | undefined;
  readonly #onReturned: (() => void) | undefined;
  /** The messages that no queue has taken, until they are offered again. */
  readonly #returned = new Set<PublishJob>();
  /** The jobs that wait, in the order of publishing. */
  #waiting = new Set<PublishJob>();
  #waitingBytes = 0;
  #unconfirmed = new Unconfirmed<PublishJob>();
  #channel: ConfirmChannel | undefined;
  #channelNumber = 0;
  #isClosed = false;
  #onIdle: (() => void) | undefined;
  readonly #silenceMs: number;
  readonly #standstill: Standstill;
  /** Ends the watch for silence, which lasts while something is unconfirmed: an idle process sleeps. */
  #endWatch: (() => void) | undefined;
  readonly #observed = observePublisher(() => ({ unconfirmed: this.#unconfirmed.size, waiting: this.#waiting.size }));

  constructor(address: AddressSource, options: PublisherOptions) {
    this.#log = options.log;
    this.#onExchangeMissing = options.onExchangeMissing;
    this.#onReturned = options.onReturned;
    this.#silenceMs = options.silenceMs;
    this.#standstill = options.standstill;
    this.#supervisor = new ConnectionSupervisor(address, {
      ...options,
      replay: (link) => this.#open(link),
      onReady: () => {
        this.#standstill.end();
        this.#pump();
      },
    });
    const supervisor = this.#supervisor;
    this.#keeper = {
      deadlines: new Deadlines(),
      get trouble() {
        return supervisor.trouble;
      },
      ended: (job) => {
        this.#returned.delete(job);
        this.#leaveLine(job); // one that is on its way counts until the broker has spoken
        this.#checkIdle();
      },
    };
  }

  get supervisor(): ConnectionSupervisor {
    return this.#supervisor;
  }

  start(timeoutMs: number): Promise<void> {
    return this.#supervisor.start(timeoutMs);
  }

  /** Publishes as Bus.publish promises. */
  publish(publication: Publication): Promise<void> {
    const { signal } = publication;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const refusal = this.#refusal(publication);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const job = new PublishJob(publication, this.#keeper, resolve, reject);
      const link = this.#waiting.size === 0 ? this.#openLink() : undefined;
      if (link !== undefined && this.#mayGo(job)) {
        this.#send(job, link);
        return;
      }
      this.#waiting.add(job);
      this.#waitingBytes += job.body.byteLength;
    });
  }

  #refusal({ routingKey, body }: Publication): Error | undefined {
    if (this.#isClosed) return new BusClosedError(`Cannot publish to "${routingKey}": the bus is closed`);
    if (body.byteLength > MAX_BODY_BYTES) {
      return new MessageTooLargeError(
        `Cannot publish to "${routingKey}": the body has ${body.byteLength} bytes, at most ${MAX_BODY_BYTES} are carried`,
      );
    }
    if (
      this.#waiting.size + this.#returned.size < MAX_WAITING &&
      this.#waitingBytes + body.byteLength <= MAX_WAITING_BYTES
    )
      return undefined;
    const held = `${this.#waiting.size} messages wait already`;
    return new BusUnavailableError(`Cannot publish to "${routingKey}": ${held}, and ${this.#supervisor.trouble}`);
  }

  /** Waits for what is being published, up to `drainMs`; the rest fails. Then closes the connection. */
  async close(drainMs: number): Promise<void> {
    this.#isClosed = true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, drainMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#checkIdle();
    });
    for (const job of [...this.#unconfirmed, ...this.#waiting, ...this.#returned]) job.busCloses();
    this.#observed[Symbol.dispose]();
    await this.#supervisor.close();
  }

  #checkIdle(): void {
    if (this.#onIdle === undefined || this.#waiting.size > 0 || this.#returned.size > 0) return;
    for (const job of this.#unconfirmed) if (!job.isSettled) return;
    this.#onIdle();
  }

  /** Opens the channel for publishing on a new connection, or anew on the same one. */
  async #open(link: Link): Promise<void> {
    await declareExchanges(link);
    const channel = await link.openConfirmChannel();
    let cause: (Error & { readonly code?: number }) | undefined;
    channel.on("error", (error) => {
      cause = error;
    });
    channel.on("return", (message) => this.#onReturn(message));
    link.listen(channel, { onVerdict: (tag, isMultiple, isTaken) => this.#onConfirm(tag, isMultiple, isTaken) });
    channel.on("close", () => this.#onChannelGone(link, channel, cause));
    link.signal.throwIfAborted(); // then "close" was before anybody listened
    this.#channel = channel;
    this.#channelNumber = numberOf(channel);
    this.#unconfirmed = new Unconfirmed();
    this.#stopWatching();
  }

  /** Sends what waits, as far as it may go now. */
  #pump(): void {
    if (this.#waiting.size === 0) return;
    const link = this.#openLink();
    if (link === undefined) return;
    for (const job of this.#waiting) {
      if (!this.#mayGo(job)) return;
      this.#leaveLine(job);
      this.#send(job, link);
    }
  }

  /** The connection, if its channel takes messages now. */
  #openLink(): Link | undefined {
    const { link, state } = this.#supervisor;
    return this.#channel !== undefined && state === "ready" ? link : undefined;
  }

  /** Tells whether it has room among the unconfirmed ones. */
  #mayGo({ body, isSuspect }: PublishJob): boolean {
    const { size, bytes, oldest } = this.#unconfirmed;
    if (size === 0) return true;
    if (size >= MAX_UNCONFIRMED || bytes + body.byteLength > MAX_UNCONFIRMED_BYTES) return false;
    return !isSuspect && oldest?.isSuspect !== true; // suspects go alone
  }

  #leaveLine(job: PublishJob): void {
    if (this.#waiting.size > 0 && this.#waiting.delete(job)) this.#waitingBytes -= job.body.byteLength;
  }

  #send(job: PublishJob, link: Link): void {
    const obstacle = job.prepare(performance.now()) ?? this.#write(job, link);
    if (obstacle !== undefined) {
      job.settle(obstacle);
      return;
    }
    job.isReturned = false;
    this.#unconfirmed.add(job);
    if (this.#endWatch === undefined) this.#watchForSilence(link);
  }

  /** @returns the error if a property cannot be carried: then nothing has been written */
  #write(job: PublishJob, link: Link): unknown {
    try {
      link.outbox.publish(this.#channelNumber, job);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** The broker names a message that came back by nothing but its properties. It comes before the message's confirm. */
  #onReturn({ fields, properties }: Message): void {
    for (const job of this.#unconfirmed) {
      if (
        job.isReturned ||
        !job.mandatory ||
        job.routingKey !== fields.routingKey ||
        job.properties.messageId !== properties.messageId
      )
        continue;
      job.isReturned = true;
      return;
    }
  }

  #onConfirm(tag: number, isMultiple: boolean, isTaken: boolean): void {
    for (const job of this.#unconfirmed.take(tag, isMultiple)) {
      if (!isTaken) job.settle(queueFull(job));
      else if (job.isReturned) this.#comesBack(job);
      else job.settle();
    }
    this.#pump();
    if (this.#unconfirmed.size === 0) this.#stopWatching();
    this.#checkIdle();
  }

  #comesBack(job: PublishJob): void {
    this.#onReturned?.();
    if (job.isSettled || !job.comesBack(performance.now())) return;
    if (this.#returned.size === 0) setTimeout(() => this.#offerAgain(), OFFER_EVERY_MS);
    this.#returned.add(job);
  }

  #offerAgain(): void {
    for (const job of this.#returned) {
      this.#waiting.add(job);
      this.#waitingBytes += job.body.byteLength;
    }
    this.#returned.clear();
    this.#pump();
  }

  #onChannelGone(link: Link, channel: ConfirmChannel, cause: (Error & { readonly code?: number }) | undefined): void {
    if (this.#channel !== channel) return;
    link.outbox.flush(); // before amqplib confirms the end: after it the channel's number means another channel
    this.#channel = undefined;
    const unsettled = [...this.#unconfirmed].filter((job) => !job.isSettled);
    const isMissing = cause?.code === NOT_FOUND; // the exchange, which is no message's fault
    const isOneRefused = isMissing && this.#unconfirmed.size === 1; // then it is that one that found no exchange
    this.#unconfirmed = new Unconfirmed();
    this.#stopWatching();
    if (isMissing) this.#onExchangeMissing?.();
    const isAngry = cause?.code !== undefined && !isMissing && !link.signal.aborted;
    if (isAngry && unsettled.length === 1) unsettled.shift()?.settle(refused(cause));
    if (isAngry) for (const job of unsettled) job.isSuspect = true;
    for (const job of unsettled) {
      if (!isOneRefused) job.mayBeOut = true;
      this.#waitingBytes += job.body.byteLength;
    }
    this.#waiting = new Set([...unsettled, ...this.#waiting]);
    this.#checkIdle();
    if (link.signal.aborted) return;
    if (this.#isClosed && cause === undefined) return; // as its connection is being closed, in order
    this.#log.warn(
      { reason: reasonOf(cause), unconfirmed: unsettled.length },
      "the broker closed the channel for publishing",
    );
    this.#open(link).then(
      () => this.#pump(),
      (error) => link.destroy(error),
    );
  }

  /**
   * Ends a connection on which confirms are due and nothing comes, for as long as confirms are due: the peer is gone,
   * whatever TCP says.
   */
  #watchForSilence(link: Link): void {
    const { clock } = link;
    let { activity } = link;
    let heardAt = clock.now;
    const watch = (): void => {
      this.#endWatch = clock.after(this.#silenceMs / LOOKS_PER_SILENCE, look);
    };
    const look = (): void => {
      if (link.signal.aborted) {
        this.#stopWatching();
        return;
      }
      if (link.isBlocked || link.activity !== activity) {
        activity = link.activity;
        heardAt = clock.now;
      } else if (clock.now - heardAt >= this.#silenceMs) {
        this.#standstill.begin();
        link.destroy(new Error(`the broker has been silent for ${Math.round(clock.now - heardAt)} ms`));
      }
      watch();
    };
    watch();
  }

  #stopWatching(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }
}

function queueFull({ routingKey, mayBeOut }: PublishJob): QueueFullError {
  return new QueueFullError(`Cannot publish to "${routingKey}": a queue that should take it is full`, {
    mayHaveBeenTaken: mayBeOut,
  });
}

function refused(cause: Error & { readonly code?: number }): Error {
  const reason = reasonOf(cause).replace(/^Channel closed by server: /, "");
  // 311 content-too-large, and RabbitMQ's 406 for a body above its own limit.
  if (cause.code === 311 || /larger than/.test(reason))
    return new MessageTooLargeError(`Cannot publish: the broker refuses the message (${reason})`);
  return new BusUnavailableError(`Cannot publish: the broker refuses the message (${reason})`, {
    isForbidden: cause.code === ACCESS_REFUSED,
  });
}

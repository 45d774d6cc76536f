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
import { declareExchanges, declareFastExchange } from "../topology.ts";
import { numberOf } from "../wire/amqplib-internals.ts";
import { AskingChannel } from "./asking-channel.ts";
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
  /** For what is transient; undefined while it is being opened. */
  #asking: AskingChannel | undefined;
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
    for (const job of [...this.#unconfirmed, ...(this.#asking?.jobs() ?? []), ...this.#waiting, ...this.#returned])
      job.busCloses();
    this.#observed[Symbol.dispose]();
    await this.#supervisor.close();
  }

  #checkIdle(): void {
    if (this.#onIdle === undefined || this.#waiting.size > 0 || this.#returned.size > 0) return;
    for (const job of this.#unconfirmed) if (!job.isSettled) return;
    if ((this.#asking?.size ?? 0) === 0) this.#onIdle();
  }

  /** Opens the channel for publishing on a new connection, or anew on the same one. */
  async #open(link: Link): Promise<void> {
    await declareExchanges(link);
    const channel = await link.openConfirmChannel();
    let cause: (Error & { readonly code?: number }) | undefined;
    channel.on("error", (error) => {
      cause = error;
    });
    channel.on("return", (message) => this.#onReturn(message, this.#unconfirmed));
    link.listen(channel, { onVerdict: (tag, isMultiple, isTaken) => this.#onConfirm(tag, isMultiple, isTaken) });
    channel.on("close", () => this.#onChannelGone(link, channel, cause));
    link.signal.throwIfAborted(); // then "close" was before anybody listened
    this.#channel = channel;
    this.#channelNumber = numberOf(channel);
    this.#unconfirmed = new Unconfirmed();
    this.#stopWatching();
    await this.#openAsking(link);
  }

  async #openAsking(link: Link): Promise<void> {
    await declareFastExchange(link).catch(() => link.signal.throwIfAborted()); // without it nobody has a lane, and nobody is asked by it
    const asking = await AskingChannel.open(link, {
      onReturn: (message, jobs) => this.#onReturn(message, jobs),
      onTaken: (jobs) => {
        for (const job of jobs) this.#hasTaken(job);
        this.#afterWord();
      },
      onGone: (jobs, cause) => {
        if (this.#asking !== asking) return;
        this.#asking = undefined;
        this.#sendAgain(jobs.filter((job) => !job.isSettled));
        if ((cause as { readonly code?: unknown } | undefined)?.code === NOT_FOUND) this.#onExchangeMissing?.();
        if (link.signal.aborted || this.#isClosed) return;
        this.#log.warn(
          { reason: reasonOf(cause), unconfirmed: jobs.length },
          "the broker closed the channel for publishing",
        );
        this.#openAsking(link).catch((error) => link.destroy(error));
        this.#pump();
      },
    });
    this.#asking = asking;
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
  #mayGo({ body, isSuspect, isTransient }: PublishJob): boolean {
    const asking = isTransient ? this.#asking : undefined;
    const { size, bytes } = asking ?? this.#unconfirmed;
    if (size === 0) return true;
    if (size >= MAX_UNCONFIRMED || bytes + body.byteLength > MAX_UNCONFIRMED_BYTES) return false;
    if (asking !== undefined) return true;
    const { oldest } = this.#unconfirmed;
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
    if (!job.isTransient || this.#asking === undefined) this.#unconfirmed.add(job);
    if (this.#endWatch === undefined) this.#watchForSilence(link);
  }

  /** @returns the error if a property cannot be carried: then nothing has been written */
  #write(job: PublishJob, link: Link): unknown {
    try {
      if (job.isTransient && this.#asking !== undefined) this.#asking.publish(job);
      else link.outbox.publish(this.#channelNumber, job);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** The broker names a message that came back by nothing but its properties. It comes before the message's confirm. */
  #onReturn({ fields, properties }: Message, jobs: Iterable<PublishJob>): void {
    for (const job of jobs) {
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
      if (isTaken) this.#hasTaken(job);
      else job.settle(queueFull(job));
    }
    this.#afterWord();
  }

  #hasTaken(job: PublishJob): void {
    if (job.isReturned) this.#comesBack(job);
    else job.settle();
  }

  /** The broker has spoken about some messages. */
  #afterWord(): void {
    this.#pump();
    if (this.#unconfirmed.size === 0 && (this.#asking?.size ?? 0) === 0) this.#stopWatching();
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
    this.#sendAgain(unsettled, isOneRefused);
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

  /** Sends first what was on its way when its channel ended, but for what is sent once. @param isRefused nobody has it */
  #sendAgain(unsettled: readonly PublishJob[], isRefused = false): void {
    const again: PublishJob[] = [];
    for (const job of unsettled) {
      if (!isRefused) job.mayBeOut = true;
      if (job.isSentOnce) {
        job.isLost();
        continue;
      }
      job.isTransient = false; // a confirm says of each what becomes of it
      this.#waitingBytes += job.body.byteLength;
      again.push(job);
    }
    this.#waiting = new Set([...again, ...this.#waiting]);
    this.#checkIdle();
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

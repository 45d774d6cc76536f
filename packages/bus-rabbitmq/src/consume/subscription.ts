import { backoffMs, pause, reasonOf, within } from "@rockbot/base";
import {
  BusClosedError,
  BusUnavailableError,
  type CheckedSubscribeOptions,
  DeadLetterError,
  type Delivery,
  type Handler,
  type Logger,
  type QueuePart,
  SubscriptionConflictError,
  SubscriptionTakenError,
  subscriptionLabel,
} from "@rockbot/bus";
import { type Envelope, fromWire } from "@rockbot/contracts";
import type { Link } from "../connection/link.ts";
import { ACCESS_REFUSED, isRefusal } from "../connection/refusal.ts";
import type { Standstill } from "../connection/standstill.ts";
import { maybeHandledSince } from "../copies.ts";
import { countRefused, observeDepths, observePrefetched } from "../metrics.ts";
import { type DeadLetter, deathsOf, readDeadLetter } from "../parked/dead-letter.ts";
import { moveParked } from "../parked/move-parked.ts";
import type { Publisher } from "../publish/publisher.ts";
import {
  diedName,
  fastName,
  mainNames,
  nextQueueName,
  type QueueVersions,
  queueName,
  resultName,
  spareQueueName,
} from "../queue-plan.ts";
import { type CopyQueue, declareCopy, declareExchanges, declareFast, declareService } from "../topology.ts";
import type { IncomingMessage } from "../wire/read-frames.ts";
import { Consumer, type Handle, type Verdict } from "./consumer.ts";
import { DeadLettering } from "./dead-lettering.ts";
import { leadTopics } from "./lead-topics.ts";
import { isOwnDeadLetter, isPutBack, isStraight } from "./provenance.ts";
import type { QueueDepths } from "./queue-depths.ts";
import { ResultQueues } from "./result-queues.ts";
import { Slots } from "./slots.ts";

export interface SubscriptionOptions {
  /** Where dead letters are published. */
  readonly publisher: Publisher;
  /** The broker's standstill, which calls are held for. */
  readonly standstill: Pick<Standstill, "hold">;
  /** The user that we publish as, if the broker verifies that: then `userId` of a message says who sent it. */
  readonly user: string | undefined;
  /** The versions of the main queues of services. */
  readonly versions: QueueVersions;
  readonly log: Logger;
  /** The depths of the queues of a service. */
  readonly depths: QueueDepths;
}

/** One queue that a subscription consumes. */
interface Station {
  readonly part: QueuePart;
  readonly queue: () => string;
  readonly prefetch: number;
  readonly slots: Slots;
  readonly handle: Handle;
  consumer: Consumer | undefined;
}

/** The least wait before what the broker has refused is tried again: it takes a person to change that. */
const REFUSED_MS = 5_000;
/**
 * Few enough that each is acknowledged at once. A message that is passed on, and kills the next consumer, must not come
 * twice for want of that.
 */
const DEAD_LETTERS_AT_ONCE = 8;
/** A dead letter that cannot be passed on now is tried again after this long. */
const AGAIN_AFTER_MS = 1_000;
/** How long it may take to say whether a message is to blame. */
const BLAME_MS = 5_000;
/** The time that disposal waits for a subscription that is being made at that moment. */
const ATTACHING_MS = 1_000;
/**
 * The broker prefers the consumer with the highest number: the process that began first. Processes of one microsecond
 * get messages in turn.
 */
const OLDEST_FIRST = -Math.round(performance.timeOrigin * 1_000);
/** Once aborted, handlers have this long to end, so that what they have done is acknowledged. */
const ABORTED_MS = 500;

/**
 * A subscription over all connections of its life: what it declares, what it consumes, and what becomes of each
 * message.
 */
export class Subscription {
  readonly #options: CheckedSubscribeOptions;
  readonly #handler: Handler;
  readonly #publisher: Publisher;
  readonly #standstill: Pick<Standstill, "hold">;
  readonly #user: string | undefined;
  readonly #versions: QueueVersions;
  /** The main queues: one, but for services while an earlier release's is there. */
  readonly #mains: readonly string[];
  /** The queue of its fast lane, out of which the broker moves to the main queue what has no room. */
  readonly #laneQueue: string | undefined;
  readonly #log: Logger;
  readonly #stations: readonly Station[];
  readonly #observed: Disposable[] = [];
  readonly #abort = new AbortController();
  #copy: CopyQueue | undefined;
  /** The main queue that gets the topics, while there are several. */
  #leadsTo: string | undefined;
  /** The connection that it was attached to last. */
  #link: Link | undefined;
  /** The consumers of its name, for kind `result`. */
  readonly #result: ResultQueues | undefined;
  /** The queues that are there. */
  #present: readonly string[] = [];
  #oldParked: Promise<void> | undefined;
  #running = 0;
  #onIdle: (() => void) | undefined;
  #isStopping = false;
  #attaching: Promise<void> = Promise.resolve();
  #repairing: Link | undefined;
  #trouble: string | undefined;
  readonly #dead: DeadLettering;
  #disposed: Promise<void> | undefined;

  constructor(
    options: CheckedSubscribeOptions,
    handler: Handler,
    { publisher, standstill, user, versions, log, depths }: SubscriptionOptions,
  ) {
    const { kind, name, concurrency, prefetch, isFurther, lane } = options;
    this.#options = options;
    this.#handler = handler;
    this.#publisher = publisher;
    this.#standstill = standstill;
    this.#user = user;
    this.#versions = versions;
    const isDurableService = kind === "service" && lane === undefined;
    this.#laneQueue = isDurableService ? fastName(name) : undefined;
    if (isDurableService) this.#mains = mainNames(name, versions);
    else this.#mains = [kind === "service" ? fastName(name) : resultName(name)];
    this.#log = log;
    this.#dead = new DeadLettering(options, { publisher, user, main: this.#mains[0] as string, log });
    const slots = new Slots(concurrency);
    this.#observed.push(observePrefetched(subscriptionLabel(options), () => slots.waiting));
    const main: Station = {
      part: "main",
      queue: () => (kind === "copy" ? (this.#copy?.name ?? "") : (this.#mains[0] as string)),
      prefetch,
      slots,
      handle: (message, receivedAt, settle, isOurs) => void this.#first(message, receivedAt, settle, isOurs),
      consumer: undefined,
    };
    // Before the main one: an instance that is seen halfway is taken for one of an earlier release, which costs
    // nothing.
    const mains = [...this.#mains.slice(1).map((queue): Station => ({ ...main, queue: () => queue })), main];
    if (isDurableService) this.#observed.push(observeDepths(name, () => depths.read()));
    if (isFurther || lane !== undefined) {
      this.#stations = mains;
      return;
    }
    if (kind === "result") this.#result = this.#resultQueues();
    if (kind !== "service") {
      const also = kind === "result" ? [spareQueueName(name), nextQueueName(name)] : [];
      this.#stations = [main, ...also.map((queue): Station => ({ ...main, queue: () => queue }))];
      return;
    }
    const retry = {
      part: "retry" as const,
      queue: () => queueName(name, "retry"),
      prefetch: 1,
      slots,
      consumer: undefined,
    };
    const dlq = {
      part: "dlq" as const,
      queue: () => queueName(name, "dlq"),
      prefetch: DEAD_LETTERS_AT_ONCE,
      slots: new Slots(DEAD_LETTERS_AT_ONCE),
      consumer: undefined,
    };
    const died = {
      part: "retry" as const,
      queue: () => diedName(name),
      prefetch: DEAD_LETTERS_AT_ONCE,
      slots: new Slots(DEAD_LETTERS_AT_ONCE),
      consumer: undefined,
    };
    this.#stations = [
      { ...dlq, handle: (message, _receivedAt, settle) => void this.#lastWord(message).then(settle) },
      { ...retry, handle: (message, receivedAt, settle) => void this.#retry(message, receivedAt).then(settle) },
      { ...died, handle: (message, _receivedAt, settle) => void this.#sort(message).then(settle) },
      ...mains,
    ];
  }

  /** Disposes of it with its bus. */
  async busCloses(drainMs: number): Promise<void> {
    await this.dispose(drainMs);
    this.#options.onBusClosed?.();
  }

  /** Why messages do not flow although the connection is up: what the broker refuses. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /**
   * Declares and consumes on a connection what is not yet consumed there.
   * @throws {Error} if the broker refuses, or the connection is lost
   */
  attach(link: Link): Promise<void> {
    const attached = this.#attaching.then(() => this.#attach(link));
    this.#attaching = attached.catch(() => {});
    return attached;
  }

  /** True if all its queues that exist are consumed. */
  get #isAttached(): boolean {
    return this.#stations.every((station) => station.consumer?.isOpen || !this.#present.includes(station.queue()));
  }

  /**
   * As `attach`, but what the broker refuses is tried again later, and does not concern others.
   * @throws {Error} if the connection is lost
   */
  async restore(link: Link): Promise<void> {
    try {
      await this.attach(link);
    } catch (error) {
      if (link.signal.aborted || !isRefusal(error)) throw error;
      this.#refused(error);
      void this.#repair(link, REFUSED_MS);
    }
  }

  /**
   * Declares again what may have been deleted, as `restore` does, unless that is being tried already.
   * @throws {Error} if the connection is lost
   */
  async lookAfter(link: Link): Promise<void> {
    if (this.#repairing !== link) await this.restore(link);
  }

  /**
   * As the disposal of Bus.subscribe promises; takes its drain time, or `limitMs` if that is less, and little more.
   * Idempotent.
   */
  dispose(limitMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#disposed ??= this.#dispose(Math.min(this.#options.drainMs, limitMs));
    return this.#disposed;
  }

  async #attach(link: Link): Promise<void> {
    if (this.#isStopping) return;
    const isReconnected = this.#link !== undefined && this.#link !== link;
    this.#link = link;
    this.#present = await this.#declare(link);
    const present = this.#stations.filter(({ queue }) => this.#present.includes(queue()));
    const consuming = await Promise.allSettled(present.map((station) => this.#consume(link, station)));
    for (const outcome of consuming) if (outcome.status === "rejected") throw outcome.reason;
    await this.#lead(link);
    this.#trouble = undefined;
    if (isReconnected) this.#options.onReconnected?.();
  }

  #resultQueues(): ResultQueues {
    const { name, topics } = this.#options;
    const stationOf = (queue: string) => this.#stations.find((station) => station.queue() === queue) as Station;
    return new ResultQueues({
      subscription: name,
      topics,
      log: this.#log,
      signal: this.#abort.signal,
      isOpen: (queue) => stationOf(queue).consumer?.isOpen === true,
      consume: (link, queue) => this.#consume(link, stationOf(queue)),
      endIdle: async (queue) => {
        if (this.#running > 0) return false;
        await stationOf(queue).consumer?.stop();
        await stationOf(queue).consumer?.close();
        return true;
      },
      lookAfter: (link) => this.lookAfter(link),
    });
  }

  /** Where the topics of a service lead while a queue of an earlier release is there. */
  async #lead(link: Link): Promise<void> {
    const { name, topics, isFurther } = this.#options;
    const retired = this.#mains.slice(1).filter((queue) => this.#present.includes(queue));
    if (retired.length === 0 || isFurther) return;
    const queue = await leadTopics(link, { subscription: name, topics, versions: this.#versions, retired });
    if (queue !== undefined && queue !== this.#leadsTo)
      this.#log.info({ subscription: name, queue }, "queues of two releases are there, and one gets the requests");
    this.#leadsTo = queue;
  }

  async #consume(link: Link, station: Station): Promise<void> {
    if (station.consumer?.isOpen || this.#isStopping) return;
    const { prefetch, slots, handle } = station;
    const consumer = await Consumer.open(link, station.queue(), {
      prefetch,
      priority: this.#options.prefersOldest && station.part === "main" ? OLDEST_FIRST : undefined,
      isExclusive: this.#result !== undefined,
      slots,
      handle: this.#user === undefined ? handle : this.#refusingStrays(station, this.#user),
      onUnreadable: () => this.#dead.discard("its headers cannot be read"),
      onInterrupted: (reason) => {
        this.#log.warn(
          { subscription: this.#options.name, queue: station.queue(), reason },
          "the broker cancelled a consumer",
        );
        this.#trouble = `the broker ended a consumer of "${station.queue()}" (${reason})`;
        void this.#repair(link, 0);
      },
    });
    if (this.#isStopping) await consumer.close();
    else station.consumer = consumer;
  }

  /** @returns the queues that are there now */
  async #declare(link: Link): Promise<readonly string[]> {
    const { kind, name, topics, isFurther, lane } = this.#options;
    if (lane !== undefined) return [await declareFast(link, name, topics)];
    if (isFurther && this.#present.length === 0) return this.#mains.slice(0, 1); // declared with the first subscription; on later connections who comes first declares it
    await declareExchanges(link);
    if (this.#result !== undefined) return await this.#result.attach(link);
    if (kind === "copy") {
      const before = this.#copy;
      this.#copy = await declareCopy(link, topics, {
        user: this.#user,
        existing: this.#stations[0]?.consumer?.isOpen ? before : undefined,
      });
      if (before !== this.#copy) await before?.leave();
      return [this.#copy.name];
    }
    const retired = await declareService(link, name, topics, this.#versions);
    this.#oldParked ??= moveParked(link, this.#publisher, {
      subscription: name,
      user: this.#user,
      log: this.#log,
    }).finally(() => {
      this.#oldParked = undefined;
    });
    const absent = this.#mains.slice(1).filter((queue) => !retired.includes(queue));
    return this.#stations.map(({ queue }) => queue()).filter((queue) => !absent.includes(queue));
  }

  /**
   * Attaches again on the same connection, until it succeeds or the connection is lost: then the next one is attached
   * to anyway.
   */
  async #repair(link: Link, firstWaitMs: number): Promise<void> {
    if (this.#repairing === link) return;
    this.#repairing = link;
    const signal = AbortSignal.any([link.signal, this.#abort.signal]);
    let waitMs = firstWaitMs;
    for (let failures = 1; !signal.aborted && !this.#isStopping; failures++) {
      try {
        await pause(waitMs, signal);
        signal.throwIfAborted();
        await this.attach(link);
        break;
      } catch (error) {
        if (signal.aborted) break;
        this.#refused(error);
        waitMs = Math.max(isRefusal(error) ? REFUSED_MS : 0, backoffMs(failures));
      }
    }
    if (this.#repairing === link) this.#repairing = undefined;
    // One that ended while this was being finished has asked in vain.
    if (!signal.aborted && !this.#isStopping && !this.#isAttached) void this.#repair(link, backoffMs(1));
  }

  #refused(error: unknown): void {
    this.#trouble = subscribeError(this.#options.name, error).message;
    this.#log.error({ subscription: this.#options.name, reason: this.#trouble }, "a subscription receives no messages");
  }

  async #dispose(drainMs: number): Promise<void> {
    const { name } = this.#options;
    this.#isStopping = true;
    await within(ATTACHING_MS, this.#attaching, () => new Error("still attaching")).catch(() => {}); // it ends by itself
    const consumers = this.#stations.flatMap(({ consumer }) => consumer ?? []);
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    if (this.#link?.signal.aborted === false)
      await within(ATTACHING_MS, this.#lead(this.#link), () => new Error("still leading")).catch(() => {}); // to those who stay
    await within(drainMs, this.#idle(), () => new Error("drain time is over")).catch(() => {
      this.#log.warn(
        { subscription: name, running: this.#running, drainMs },
        "the drain time is over, and handlers still run",
      );
    });
    this.#abort.abort(new BusClosedError(`The subscription "${name}" has ended`));
    await within(ABORTED_MS, this.#idle(), () => new Error("handlers do not end")).catch(() => {});
    await Promise.all(consumers.map((consumer) => consumer.close()));
    await this.#copy?.leave();
    for (const observed of this.#observed) observed[Symbol.dispose]();
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#running === 0) resolve();
      else this.#onIdle = resolve;
    });
  }

  /** Runs whatever is done for one message; disposal waits for it. */
  async #handling(work: () => Promise<Verdict>): Promise<Verdict> {
    this.#running++;
    try {
      return await work();
    } catch (error) {
      return await this.#unsettled(error);
    } finally {
      if (--this.#running === 0) this.#onIdle?.();
    }
  }

  /** The fate of a message when neither its handler nor its way to the dead letters has settled it. */
  async #unsettled(error: unknown): Promise<Verdict> {
    if (error instanceof RangeError)
      return this.#dead.discard(`what its sender wrote cannot be passed on: ${error.message}`);
    this.#log.error(
      { subscription: this.#options.name, reason: reasonOf(error) },
      "could not acknowledge a message, so the broker delivers it again",
    );
    await pause(AGAIN_AFTER_MS, this.#abort.signal);
    return "again";
  }

  /** Handles what came by a right of its sender; all else is dropped and counted, whatever it says. */
  #refusingStrays({ queue, part, handle }: Station, user: string): Station["handle"] {
    const { name, topics } = this.#options;
    const own = [...this.#mains, diedName(name), queueName(name, "retry"), queueName(name, "dlq")];
    return (message, receivedAt, settle, isOurs) => {
      const isRightful =
        part === "main"
          ? isStraight(message, topics, this.#laneQueue) || isPutBack(message, queue(), user)
          : isOwnDeadLetter(message, queue(), user, own);
      if (isRightful) return handle(message, receivedAt, settle, isOurs);
      countRefused(subscriptionLabel(this.#options));
      this.#log.warn(
        { subscription: name, user: message.properties.userId },
        "dropped a message whose sender has no right to send it",
      );
      queueMicrotask(() => settle("done")); // not at once: strays in a row would settle inside each other
    };
  }

  /** A message on its way. One that succeeds, as nearly all do, has no frame but this one. */
  async #first(
    message: IncomingMessage,
    receivedAt: number,
    settle: (verdict: Verdict) => void,
    isOurs: Delivery["isOurs"],
  ): Promise<void> {
    const { fields, properties, content } = message;
    const isPutBack = this.#mains.includes(fields.routingKey);
    const lane = this.#laneQueue;
    const isFromLane = !isPutBack && lane !== undefined && deathsOf(properties.headers)[0]?.["queue"] === lane;
    let dead: DeadLetter | undefined;
    if (isPutBack) dead = readDeadLetter(message, this.#mains);
    else if (isFromLane) dead = readDeadLetter(message, [lane]);
    if (isFromLane && dead?.isExpired) {
      queueMicrotask(() => settle("done")); // its caller has heard that its time is over
      return;
    }
    const read = dead?.envelope ?? fromWire(fields.routingKey, properties, content);
    const envelope = this.#seen(read);
    const triedSince = isPutBack ? Number.NEGATIVE_INFINITY : maybeHandledSince(message, receivedAt);
    let verdict: Verdict = "done";
    this.#running++;
    try {
      const { signal } = this.#abort;
      const hold = this.#options.kind === "service" ? this.#standstill.hold : undefined;
      if (hold !== undefined) await hold;
      await this.#handler(envelope, {
        signal,
        receivedAt,
        isRedelivered: fields.redelivered || isPutBack,
        maybeHandledSince: triedSince,
        isOurs,
      });
    } catch (error) {
      verdict = await this.#firstFailed(message, envelope, { receivedAt, triedSince }, error).catch(
        (unsettled: unknown) => this.#unsettled(unsettled),
      );
    }
    if (--this.#running === 0) this.#onIdle?.();
    settle(verdict);
  }

  async #firstFailed(
    message: IncomingMessage,
    envelope: Envelope,
    { receivedAt, triedSince = receivedAt }: { readonly receivedAt: number; readonly triedSince: number | undefined },
    error: unknown,
  ): Promise<Verdict> {
    if (this.#abort.signal.aborted) return "again";
    const { kind, lane } = this.#options;
    const isOnceMore = lane !== undefined && !message.fields.redelivered && !(error instanceof DeadLetterError);
    if (isOnceMore) return "again";
    if (kind !== "service" || lane !== undefined) return this.#dead.drop(envelope, error);
    if (error instanceof DeadLetterError)
      return this.#dead.die(message, envelope, { reason: "rejected", message: error.message });
    this.#log.warn(
      { ...this.#about(envelope), error: reasonOf(error) },
      "a handler failed, and its message is retried once",
    );
    return this.#lastTry(message, envelope, receivedAt, triedSince);
  }

  /**
   * A message that has died in the main queue: its time was over before anybody took it, or consumers have died over
   * it.
   */
  #sort(message: IncomingMessage): Promise<Verdict> {
    return this.#handling(async () => {
      const dead = readDeadLetter(message, this.#mains);
      const envelope = this.#seen(dead.envelope);
      if (dead.isExpired) return this.#dead.parkExpired(message, envelope);
      if (await this.#isPutBack(message, envelope)) return "done";
      await this.#dead.passOn(message, envelope, {
        to: queueName(this.#options.name, "retry"),
        reason: "crashed",
        why: undefined,
      });
      return "done";
    });
  }

  /**
   * A message that consumers have died over. It is tried alone: nobody else is to die with it, nor be blamed for it.
   */
  #retry(message: IncomingMessage, receivedAt: number): Promise<Verdict> {
    return this.#handling(async () => {
      const { envelope } = readDeadLetter(message, this.#mains);
      return this.#lastTry(message, this.#seen(envelope), receivedAt, Number.NEGATIVE_INFINITY);
    });
  }

  async #lastTry(
    message: IncomingMessage,
    envelope: Envelope,
    receivedAt: number,
    triedSince: number,
  ): Promise<Verdict> {
    const { signal } = this.#abort;
    try {
      await this.#handler(envelope, { signal, receivedAt, isRedelivered: true, maybeHandledSince: triedSince });
      return "done";
    } catch (error) {
      if (signal.aborted) return "again";
      return this.#dead.die(
        message,
        envelope,
        error instanceof DeadLetterError ? { reason: "rejected", message: error.message } : { reason: "failed" },
      );
    }
  }

  /** A message given up. */
  #lastWord(message: IncomingMessage): Promise<Verdict> {
    const [last] = deathsOf(message.properties.headers);
    // Its consumers died while it was sorted, over another one: it has not been tried alone.
    if (last?.["queue"] === diedName(this.#options.name)) return this.#sort(message);
    return this.#handling(async () => {
      const { envelope: read, death } = readDeadLetter(message, this.#mains);
      const envelope = this.#seen(read);
      if (death.reason === "crashed" && (await this.#isPutBack(message, envelope))) return "done";
      await this.#dead.sayLastWord(envelope, death);
      return this.#dead.park(message, envelope, death.reason, death.message);
    });
  }

  /** Puts a message that consumers have died over back into the main queue, if it is not to blame for that. */
  async #isPutBack(message: IncomingMessage, envelope: Envelope): Promise<boolean> {
    const { isToBlame } = this.#options;
    if (isToBlame === undefined) return false;
    try {
      if (await within(BLAME_MS, isToBlame(envelope), () => new Error(`no answer after ${BLAME_MS} ms`))) return false;
      const expiration = envelope.ttlMs?.toString(); // else it would wait for ever
      await this.#dead.passOn(message, envelope, {
        to: this.#mains[0] as string,
        reason: "crashed",
        why: undefined,
        expiration,
      });
      this.#log.info(this.#about(envelope), "consumers died over a message whose work gets on: it is delivered again");
      return true;
    } catch (error) {
      this.#log.warn(
        { ...this.#about(envelope), error: reasonOf(error) },
        "could not put a message back that consumers died over: it is tried alone",
      );
      return false;
    }
  }

  #seen(envelope: Envelope): Envelope {
    return this.#user !== undefined || envelope.userId === undefined ? envelope : { ...envelope, userId: undefined };
  }

  #about({ topic, messageId }: Envelope): object {
    return { subscription: this.#options.name, topic, messageId };
  }
}

/** Why a subscription could not be made, as Bus.subscribe promises. */
export function subscribeError(name: string, error: unknown): Error {
  const reason = reasonOf(error).replace(/^Operation failed: /, "");
  const conflict = /inequivalent arg '([^']*)' for queue '([^']*)'.*?: (received .*)"?$/.exec(reason);
  if (conflict !== null) {
    const [, argument, queue, difference] = conflict;
    return new SubscriptionConflictError(
      `Cannot subscribe as "${name}": the queue "${queue}" exists with another "${argument}" (${difference?.replace(/"$/, "")}). Delete that queue, or use another name`,
      { cause: error },
    );
  }
  if (
    error instanceof BusClosedError ||
    error instanceof BusUnavailableError ||
    error instanceof SubscriptionTakenError
  )
    return error;
  return new BusUnavailableError(
    `Cannot subscribe as "${name}": ${isRefusal(error) ? `the broker refuses (${reason})` : reason}`,
    {
      cause: error,
      isForbidden: (error as { readonly code?: unknown } | undefined)?.code === ACCESS_REFUSED,
    },
  );
}

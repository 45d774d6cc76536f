import { randomBytes } from "node:crypto";
import { reasonOf } from "@rockbot/base";
import {
  type Bus,
  BusClosedError,
  type BusTraits,
  checkSubscribeOptions,
  DEFAULT_DRAIN_MS,
  DEFAULT_PUBLISH_TIMEOUT_MS,
  type Handler,
  type Logger,
  type ParkedVisitor,
  type PublishOptions,
  type QueuePart,
  type QueueState,
  type SubscribeOptions,
  silentLogger,
  traceBus,
  type VisitParkedOptions,
} from "@rockbot/bus";
import { type Envelope, toWire } from "@rockbot/contracts";
import { AddressSource } from "./connection/address-source.ts";
import { type ConnectionState, ConnectionSupervisor } from "./connection/connection-supervisor.ts";
import { Inspector } from "./connection/inspector.ts";
import type { Link, TlsOptions } from "./connection/link.ts";
import { isRefusal } from "./connection/refusal.ts";
import { Standstill } from "./connection/standstill.ts";
import { QueueDepths } from "./consume/queue-depths.ts";
import { Subscription, subscribeError } from "./consume/subscription.ts";
import { countFailedConnection, countLostConnection, observeConnection, type ShownState } from "./metrics.ts";
import { visitParked } from "./parked/visit-parked.ts";
import { Publisher } from "./publish/publisher.ts";
import { EXCHANGE, FAST_EXCHANGE, mainNames, QUEUE_VERSIONS, type QueueVersions, queueName } from "./queue-plan.ts";
import { declareExchanges } from "./topology.ts";

/** Settings of a connection to RabbitMQ. */
export interface ConnectBusOptions {
  /** The name of the connecting program, for the operator of the broker to see. @default "rockbot" */
  readonly name?: string | undefined;
  readonly log?: Logger | undefined;
  /** How long to try to connect at first; later it is tried for ever. @default 30_000 */
  readonly connectTimeoutMs?: number | undefined;
  /** Aborts the first attempts to connect. Later it means nothing: disposal ends the bus. */
  readonly signal?: AbortSignal | undefined;
  /**
   * True if the broker may not know the user yet, as in a deployment that starts with its broker: a refusal at first is
   * then tried again until `connectTimeoutMs` are over. @default false
   */
  readonly waitsForRights?: boolean | undefined;
  /** How long disposal waits for running handlers and unconfirmed messages, each. @default 20_000 */
  readonly drainMs?: number | undefined;
  /**
   * A peer that is idle and silent for two to three times this long counts as dead, to the broker as to this process.
   * @default 5
   */
  readonly heartbeatSeconds?: number | undefined;
  /**
   * A broker that owes confirms and is silent for this long counts as dead; time that this process slept is not the
   * broker's.
   * @default 2_000
   */
  readonly silenceMs?: number | undefined;
  /**
   * `verified`: each agent and service has a broker user of its own, under which messages are sent and received.
   * `trusted`: users are shared, so nobody's name means anything. @default "trusted"
   */
  readonly identity?: "trusted" | "verified" | undefined;
  /** The options of TLS for `amqps:`. */
  readonly tls?: TlsOptions | undefined;
  /** The versions of services' main queues. @default those of this release */
  readonly queueVersions?: QueueVersions | undefined;
}

/**
 * A bus over RabbitMQ 3.10 or later. Reconnects for as long as it lives.
 * @param url `amqp://user:password@host:port/vhost`, or `amqps://…`. A function is asked before each connection, so
 * that the password can change meanwhile; the user cannot
 * @throws {RangeError} if the address or an option makes no sense
 * @throws {BusUnavailableError} if the broker cannot be reached in time, or refuses
 * @throws {BusClosedError} if `signal` aborts before
 */
export async function connectBus(url: string | (() => string), options: ConnectBusOptions = {}): Promise<Bus> {
  const { connectTimeoutMs = 30_000, heartbeatSeconds = 5, silenceMs = 2_000, signal } = options;
  if (!Number.isInteger(heartbeatSeconds) || heartbeatSeconds < 1) {
    throw new RangeError(`Cannot connect: heartbeatSeconds must be a positive whole number, got ${heartbeatSeconds}`);
  }
  if (!(silenceMs >= 100)) throw new RangeError(`Cannot connect: silenceMs must be at least 100, got ${silenceMs}`);
  const address = new AddressSource(typeof url === "string" ? () => url : url, options.log ?? silentLogger);
  const bus = new RabbitMqBus(address, { ...options, heartbeatSeconds, silenceMs });
  const giveUp = (): void => void bus[Symbol.asyncDispose]();
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    if (signal?.aborted) giveUp();
    await bus.start(connectTimeoutMs);
  } catch (error) {
    await bus[Symbol.asyncDispose]();
    throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
  return traceBus(bus);
}

/** A subscription must be flowing after this long, which is time to start anew if the broker owes an answer. */
const SUBSCRIBE_TIMEOUT_MS = 15_000;
/** The declared queues, exchanges and bindings are checked this often at most, and half as often at least. */
const LOOK_EVERY_MS = 5_000;
/** A message that nobody's queue takes has it looked after at once, but not more often than this. */
const RETURNED_LOOK_MS = 1_000;
const MISSING = "an exchange was missing, and is declared again";
const UP_WITHIN_MS = 2_000;
/** AMQP's delivery mode of what is not kept on a disk. */
const TRANSIENT = 1;

class RabbitMqBus implements Bus {
  readonly traits: BusTraits;
  readonly #user: string | undefined;
  readonly #drainMs: number;
  readonly #versions: QueueVersions;
  readonly #log: Logger;
  readonly #publisher: Publisher;
  readonly #standstill = new Standstill();
  /** Consumers have a connection of their own: the broker stalls one that publishes when it is short of memory. */
  readonly #consuming: ConnectionSupervisor;
  readonly #inspector: Inspector;
  readonly #subscriptions = new Set<Subscription>();
  readonly #observed: Disposable[] = [];
  #isClosing = false;
  /** Some of the declared queues, exchanges or bindings are not there. */
  #isHurt = false;
  #lookNow: (() => void) | undefined;
  /** The time of the last look, on the clock of `performance.now()`. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    address: AddressSource,
    options: ConnectBusOptions & { readonly heartbeatSeconds: number; readonly silenceMs: number },
  ) {
    const {
      name = "rockbot",
      log = silentLogger,
      drainMs = DEFAULT_DRAIN_MS,
      identity = "trusted",
      heartbeatSeconds,
      silenceMs,
      tls,
      waitsForRights,
    } = options;
    this.#user = identity === "verified" ? address.current.user : undefined;
    this.traits = { system: "rabbitmq", isDurable: true, verifiesSender: this.#user !== undefined, user: this.#user };
    this.#drainMs = drainMs;
    this.#versions = options.queueVersions ?? QUEUE_VERSIONS;
    this.#log = log;
    const id = `${name}#${randomBytes(3).toString("hex")}`; // tells the processes of a service apart
    this.#publisher = new Publisher(address, {
      name: `${id} publish`,
      heartbeatSeconds,
      silenceMs,
      tls,
      log,
      waitsForRights,
      onOpen: () => this.#consuming.hurry(),
      onFailed: (isRefused) => countFailedConnection("publish", isRefused),
      onLost: () => {
        countLostConnection("publish");
        void this.#consuming.link?.probe(silenceMs); // it may be as dead, and has no watchdog
      },
      standstill: this.#standstill,
      onReturned: () => {
        if (performance.now() - this.#lookedAt > RETURNED_LOOK_MS) this.#lookNow?.();
      },
      onExchangeMissing: () => {
        this.#hurt(MISSING);
        this.#lookNow?.();
      },
    });
    this.#consuming = new ConnectionSupervisor(address, {
      name: `${id} consume`,
      heartbeatSeconds,
      silenceMs,
      tls,
      log,
      waitsForRights,
      replay: (link) => this.#replay(link),
      onOpen: () => this.#publisher.supervisor.hurry(),
      onFailed: (isRefused) => countFailedConnection("consume", isRefused),
      onLost: () => {
        countLostConnection("consume");
        void this.#publisher.supervisor.link?.probe(silenceMs);
      },
    });
    this.#inspector = new Inspector(this.#consuming);
    this.#observed.push(observeConnection("publish", () => shown(this.#publisher.supervisor.state)));
    this.#observed.push(observeConnection("consume", () => shown(this.#consuming.state)));
  }

  async start(timeoutMs: number): Promise<void> {
    await Promise.all([this.#publisher.start(timeoutMs), this.#consuming.start(timeoutMs)]);
    this.#looking = this.#lookNowAndAgain();
  }

  get isReady(): boolean {
    if (
      this.#isClosing ||
      this.#isHurt ||
      this.#publisher.supervisor.state !== "ready" ||
      this.#consuming.link === undefined
    )
      return false;
    for (const { trouble } of this.#subscriptions) if (trouble !== undefined) return false;
    return true;
  }

  get isBlocked(): boolean {
    return this.#publisher.supervisor.state === "blocked";
  }

  publish(message: Envelope, options: PublishOptions = {}): Promise<void> {
    const { mandatory = false, offerAgainMs, timeoutMs = DEFAULT_PUBLISH_TIMEOUT_MS, signal, isWanted, lane } = options;
    const { topic, body, ttlMs } = message;
    const isFast = lane === "fast";
    const isTransient = isFast || options.isTransient;
    const properties = this.#user === undefined ? toWire(message) : { ...toWire(message), userId: this.#user };
    return this.#publisher.publish({
      exchange: isFast ? FAST_EXCHANGE : EXCHANGE,
      routingKey: topic,
      body,
      properties: isTransient ? { ...properties, deliveryMode: TRANSIENT } : properties,
      isTransient,
      isSentOnce: isFast,
      mandatory,
      offerAgainMs,
      timeoutMs,
      ttlMs,
      signal,
      isWanted,
    });
  }

  async subscribe(options: SubscribeOptions, handler: Handler): Promise<AsyncDisposable> {
    const checked = checkSubscribeOptions(options);
    const { name } = checked;
    const subscription = new Subscription(checked, handler, {
      publisher: this.#publisher,
      standstill: this.#standstill,
      user: this.#user,
      versions: this.#versions,
      log: this.#log,
      depths: new QueueDepths(name, this.#versions, (queue, isConsumed) =>
        this.#consuming.link === undefined ? undefined : this.#inspector.inspect(queue, isConsumed),
      ),
    });
    try {
      await this.#attach(subscription, name);
    } catch (error) {
      await subscription.dispose(0);
      throw subscribeError(name, error);
    }
    return {
      [Symbol.asyncDispose]: () => {
        return subscription.dispose().finally(() => this.#subscriptions.delete(subscription)); // a bus that closes meanwhile waits for it
      },
    };
  }

  async inspect(name: string, part: QueuePart = "main"): Promise<QueueState | undefined> {
    const [main = "", ...retired] = part === "main" ? mainNames(name, this.#versions) : [queueName(name, part)];
    let state = await this.#inspector.inspect(main, part !== "parked");
    for (const queue of retired) {
      if ((state?.consumers ?? 0) > 0) break; // those consume the retired ones, too
      state = (await this.#inspector.inspect(queue, true)) ?? state;
    }
    return state;
  }

  async visitParked(name: string, visit: ParkedVisitor, options: VisitParkedOptions = {}): Promise<number | undefined> {
    if (this.#isClosing) throw new BusClosedError(`Cannot look at the parked messages of "${name}": the bus is closed`);
    const link = await this.#consuming.whenUp(UP_WITHIN_MS);
    return visitParked(link, name, visit, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    this.#lookNow?.();
    // While handlers finish they may still publish answers, so publishing ends last.
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.busCloses(this.#drainMs)));
    this.#subscriptions.clear();
    for (const observed of this.#observed) observed[Symbol.dispose]();
    await Promise.all([this.#publisher.close(this.#drainMs), this.#consuming.close()]);
    await this.#looking;
  }

  /**
   * Repeats all declarations now and again: an exchange, a queue or a binding that somebody has deleted is there again
   * then. The broker does not say when that happens, but for a queue's consumers.
   */
  async #lookNowAndAgain(): Promise<void> {
    while (!this.#isClosing) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_EVERY_MS * (1 + Math.random())); // by lot: those who start together do not ask together for ever
        timer.unref();
        this.#lookNow = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#lookedAt = performance.now();
      const { link } = this.#consuming;
      if (link === undefined || this.#isClosing) continue;
      try {
        if (!(await declareExchanges(link))) this.#hurt(MISSING);
        await Promise.all([...this.#subscriptions].map((subscription) => subscription.lookAfter(link)));
        this.#isHurt = false;
      } catch (error) {
        if (!link.signal.aborted) this.#hurt(reasonOf(error)); // else the next connection declares all of it
      }
    }
  }

  #hurt(reason: string): void {
    const isNews = !this.#isHurt;
    this.#isHurt = true;
    if (isNews) this.#log.error({ reason }, "queues or bindings are missing at the broker");
  }

  /** Attaches a new subscription to the connection, and to the next one if that is lost meanwhile. */
  async #attach(subscription: Subscription, name: string): Promise<void> {
    const deadline = performance.now() + SUBSCRIBE_TIMEOUT_MS;
    for (;;) {
      if (this.#isClosing) throw new BusClosedError(`Cannot subscribe as "${name}": the bus is closed`);
      const link = await this.#consuming.whenUp(Math.max(1, deadline - performance.now()));
      try {
        await subscription.attach(link);
        if (this.#isClosing) continue;
        this.#subscriptions.add(subscription);
        if (!link.signal.aborted) return;
        this.#subscriptions.delete(subscription);
      } catch (error) {
        if (isRefusal(error) || !link.signal.aborted || performance.now() > deadline) throw error;
      }
    }
  }

  async #replay(link: Link): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.restore(link)));
    this.#isHurt = false;
  }
}

const shown = (state: ConnectionState): ShownState => (state === "ready" || state === "blocked" ? state : "down");

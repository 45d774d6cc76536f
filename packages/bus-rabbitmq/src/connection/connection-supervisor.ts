import { backoffMs, reasonOf } from "@rockbot/base";
import { BusClosedError, BusUnavailableError, type Logger } from "@rockbot/bus";
import type { AddressSource } from "./address-source.ts";
import { type Link, type LinkOptions, NoHandshakeError, openLink } from "./link.ts";
import { isRefusal } from "./refusal.ts";

export type ConnectionState = "idle" | "connecting" | "replaying" | "ready" | "blocked" | "draining" | "closed";

export interface SupervisorOptions extends LinkOptions {
  readonly log: Logger;
  /**
   * True if the broker may not know the user yet: a refusal before the first connection is then not final.
   * @default false
   */
  readonly waitsForRights?: boolean | undefined;
  /**
   * Prepares a new connection, which counts as ready only then. It has a deadline; if it fails the connection is given
   * up.
   */
  readonly replay: (link: Link) => Promise<void>;
  /** The broker has taken a connection, which is not prepared yet. */
  readonly onOpen?: (() => void) | undefined;
  /** The connection is ready, after it was not: new, or no longer blocked. */
  readonly onReady?: ((link: Link) => void) | undefined;
  /** An attempt to connect has ended without a connection. */
  readonly onFailed?: ((isRefused: boolean) => void) | undefined;
  /** A connection that was ready is gone. */
  readonly onLost?: (() => void) | undefined;
}

const REPLAY_DEADLINE_MS = 10_000;
/** A connection that lasted this long starts the backoff anew. */
const STABLE_MS = 5_000;
/** The longest wait between attempts: a broker that is back is found this soon, also by the last of many. */
const MAX_WAIT_MS = 1_200;
/**
 * The time that the first attempt gives the broker for each answer. It doubles with each attempt that gets none. A
 * broker that is swamped by returning clients would never be done with clients that leave too soon.
 */
const FIRST_PATIENCE_MS = 3_000;
const MAX_PATIENCE_MS = 10_000;
/** The least wait after a refusal: it takes a person to change that. */
const REFUSED_MS = 5_000;
/** The same while a deployment is about to give the user its rights. */
const AWAITED_MS = 1_000;
/** An outage is one event: its first failure is logged, then one now and again. */
const LOG_EVERY_MS = 10_000;

interface Waiter {
  readonly resolve: (link: Link) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Keeps one connection up: connects and prepares it, and does so again, for ever, when it is lost. The package amqplib
 * has such a thing built in, but a connection that dies while it is being prepared ends that one for good.
 */
export class ConnectionSupervisor {
  readonly #address: AddressSource;
  readonly #options: SupervisorOptions;
  readonly #stop = new AbortController();
  readonly #waiters = new Set<Waiter>();
  #state: ConnectionState = "idle";
  #link: Link | undefined;
  #blockedBecause = "";
  #lastFailure = "no attempt has ended yet";
  #running: Promise<void> | undefined;
  #returnedAt: number | undefined;
  #wasRefused = false;
  /** No broker has been found since the last attempt began. */
  #isSearching = false;
  #isHurried = false;
  #endWait: (() => void) | undefined;

  constructor(address: AddressSource, options: SupervisorOptions) {
    this.#address = address;
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** The connection, while it is up, blocked or not. */
  get link(): Link | undefined {
    return this.#state === "ready" || this.#state === "blocked" ? this.#link : undefined;
  }

  /** When the connection was last restored, on the clock of `performance.now()`; undefined while it is the first. */
  get returnedAt(): number | undefined {
    return this.#returnedAt;
  }

  /** Why nothing can be sent now, as the end of a sentence. */
  get trouble(): string {
    if (this.#state === "blocked")
      return `the broker ${this.#address.current.label} takes no messages now (${this.#blockedBecause})`;
    if (this.#state === "ready") return `the broker ${this.#address.current.label} does not answer`;
    return `there is no connection to ${this.#address.current.label} (${this.#lastFailure})`;
  }

  /**
   * Connects. @throws {BusUnavailableError} if it has not succeeded in time, or if the broker refuses; then it has
   * stopped.
   */
  async start(timeoutMs: number): Promise<void> {
    this.#running = this.#run();
    try {
      await this.whenUp(timeoutMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /**
   * The connection, as soon as it is up.
   * @throws {BusUnavailableError} if that takes longer
   * @throws {BusClosedError}
   */
  whenUp(timeoutMs: number): Promise<Link> {
    if (this.link !== undefined) return Promise.resolve(this.link);
    if (this.#stop.signal.aborted) return Promise.reject(new BusClosedError("The bus is closed"));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => waiter.reject(new BusUnavailableError(`Cannot reach the bus within ${timeoutMs} ms: ${this.trouble}`)),
        timeoutMs,
      );
      const settle = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        resolve: (link) => {
          settle();
          resolve(link);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /**
   * Tries to connect now, or again at once if an attempt that runs finds no broker: it was just seen to take
   * connections. Not if it has taken this one and ended it, or refused it.
   */
  hurry(): void {
    if (!this.#isSearching) return;
    this.#isHurried = true;
    this.#endWait?.();
  }

  /** Says goodbye to the broker; takes a second at most. */
  async close(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#state = "draining";
      this.#stop.abort();
      this.#endWait?.();
      for (const waiter of [...this.#waiters]) waiter.reject(new BusClosedError("The bus is closed"));
      await this.#link?.close();
    }
    await this.#running;
    this.#state = "closed";
  }

  async #run(): Promise<void> {
    const { log, name } = this.#options;
    const { signal } = this.#stop;
    let failures = 0;
    let unanswered = 0;
    let loggedAt = Number.NEGATIVE_INFINITY;
    let wasReady = false;
    while (!signal.aborted) {
      let upSince = Number.POSITIVE_INFINITY;
      try {
        const patienceMs = Math.min(FIRST_PATIENCE_MS * 2 ** unanswered, MAX_PATIENCE_MS);
        await this.#connectOnce(patienceMs, () => {
          upSince = performance.now();
          if (wasReady) this.#returnedAt = upSince;
          wasReady = true;
          log.info(
            { connection: name, broker: this.#address.current.label, attempts: failures + 1 },
            "connected to the broker",
          );
        });
      } catch (error) {
        if (signal.aborted) return;
        this.#lastFailure = reasonOf(error);
        const refused = isRefusal(error);
        if (refused) this.#isSearching = false;
        if (upSince === Number.POSITIVE_INFINITY) this.#options.onFailed?.(refused);
        if (refused && !wasReady && this.#options.waitsForRights !== true) {
          this.#refuse();
          return;
        }
        failures = performance.now() - upSince > STABLE_MS ? 1 : failures + 1;
        unanswered = error instanceof NoHandshakeError ? unanswered + 1 : 0;
        const waitMs = refused
          ? wasReady
            ? REFUSED_MS
            : AWAITED_MS
          : backoffMs(failures, { baseMs: 100, maxMs: MAX_WAIT_MS, leastPart: 0.5 });
        const fields = {
          connection: name,
          broker: this.#address.current.label,
          reason: this.#lastFailure,
          failures,
          waitMs: Math.round(waitMs),
        };
        if (failures === 1 || refused !== this.#wasRefused || performance.now() - loggedAt > LOG_EVERY_MS) {
          loggedAt = performance.now();
          if (refused) log.error(fields, "the broker refuses the connection");
          else log.warn(fields, "no connection to the broker");
        }
        this.#wasRefused = refused;
        this.#state = "connecting";
        await this.#wait(waitMs);
      }
    }
  }

  /** Ends early when stopped or told to hurry, which may have been before. */
  async #wait(ms: number): Promise<void> {
    if (this.#stop.signal.aborted || (this.#isHurried && this.#isSearching)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endWait = undefined;
  }

  /** The life of one connection. Always throws in the end: with the reason why it has ended. */
  async #connectOnce(patienceMs: number, onUp: () => void): Promise<never> {
    this.#state = "connecting";
    this.#isSearching = true;
    this.#isHurried = false;
    const link = await openLink(this.#address.read(), { ...this.#options, patienceMs }, this.#stop.signal);
    this.#link = link;
    this.#isSearching = false;
    this.#options.onOpen?.();
    let wasUp = false;
    try {
      this.#stop.signal.throwIfAborted();
      this.#state = "replaying";
      await link.answerWithin(REPLAY_DEADLINE_MS, "the topology", this.#options.replay(link));
      link.signal.throwIfAborted();
      this.#stop.signal.throwIfAborted();
      wasUp = true;
      onUp();
      link.onBlocked = (reason) => this.#setBlocked(link, reason);
      this.#setBlocked(link, link.isBlocked ? "" : undefined);
      for (const waiter of [...this.#waiters]) waiter.resolve(link);
      await link.whenGone();
      throw link.signal.reason;
    } finally {
      link.onBlocked = undefined;
      if (this.#stop.signal.aborted) await link.close();
      else link.destroy(new Error("given up"));
      this.#link = undefined;
      if (!this.#stop.signal.aborted) this.#state = "connecting";
      if (wasUp) this.#options.onLost?.();
    }
  }

  #setBlocked(link: Link, reason: string | undefined): void {
    const { log, name, onReady } = this.#options;
    if (this.#stop.signal.aborted) return;
    if (reason === undefined) {
      if (this.#state === "blocked") log.info({ connection: name }, "the broker accepts messages again");
      this.#state = "ready";
      onReady?.(link);
    } else {
      this.#state = "blocked";
      this.#blockedBecause = reason;
      log.warn({ connection: name, reason }, "the broker accepts no messages now");
    }
  }

  /** Refused on the very first try: a mistake in the configuration. The start of the bus fails at once. */
  #refuse(): void {
    const error = new BusUnavailableError(
      `Cannot connect to ${this.#address.current.label} as "${this.#address.current.user}": the broker refuses (${this.#lastFailure})`,
    );
    for (const waiter of [...this.#waiters]) waiter.reject(error);
  }
}

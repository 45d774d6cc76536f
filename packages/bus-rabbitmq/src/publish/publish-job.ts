import { type Deadlines, onAbort } from "@rockbot/base";
import { BusClosedError, BusUnavailableError, UnroutableError } from "@rockbot/bus";
import { asCopy } from "../copies.ts";
import type { MessageProperties, OutgoingMessage } from "../wire/frames.ts";

/** One message to publish, and how long to try. */
export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Uint8Array;
  readonly properties: MessageProperties;
  readonly mandatory: boolean;
  /** How long it is offered again while nobody's queue takes it, in milliseconds. @default 0 */
  readonly offerAgainMs?: number | undefined;
  readonly timeoutMs: number;
  readonly ttlMs?: number | undefined;
  /** True if no queue has to write it to a disk, so that its confirm is not worth its price. @default false */
  readonly isTransient?: boolean | undefined;
  /** True if it is not sent again when its channel ends before the confirm. @default false */
  readonly isSentOnce?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly isWanted?: (() => boolean) | undefined;
}

/** Whose job it is. */
export interface JobKeeper {
  readonly deadlines: Deadlines;
  /** Why messages do not go out. */
  readonly trouble: string;
  /** Called once for each job, when it is settled. */
  ended(job: PublishJob): void;
}

/**
 * A message that is being published: until its sender knows how that ended, and on until the broker has spoken about
 * it.
 */
export class PublishJob implements OutgoingMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  properties: MessageProperties;
  readonly body: Uint8Array;
  expirationMs: number | undefined;
  isSettled = false;
  /** The broker has sent it back; its confirm follows. */
  isReturned = false;
  /** It was unconfirmed when the broker closed the channel in anger, so it may be the cause. */
  isSuspect = false;
  /** It was sent and its channel ended before the confirm: somebody may have it. */
  mayBeOut = false;
  /** The time of the first attempt, on the clock of `performance.now()`. */
  #firstSentAt: number | undefined;
  #firstReturnedAt: number | undefined;
  readonly isSentOnce: boolean;
  /** The broker is asked about it with others, and does not confirm it. */
  isTransient: boolean;
  readonly #offerAgainMs: number;
  readonly #expiresAt: number;
  readonly #isWanted: Publication["isWanted"];
  readonly #keeper: JobKeeper;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  readonly #callOff: () => void;
  readonly #leave: (() => void) | undefined;

  constructor(publication: Publication, keeper: JobKeeper, resolve: () => void, reject: (error: unknown) => void) {
    const {
      exchange,
      routingKey,
      mandatory,
      properties,
      body,
      offerAgainMs = 0,
      timeoutMs,
      ttlMs,
      isTransient = false,
      isSentOnce = false,
      signal,
      isWanted,
    } = publication;
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.mandatory = mandatory;
    this.properties = properties;
    this.body = body;
    this.isSentOnce = isSentOnce;
    this.isTransient = isTransient;
    this.#offerAgainMs = offerAgainMs;
    this.#expiresAt = ttlMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + ttlMs;
    this.#isWanted = isWanted;
    this.#keeper = keeper;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#callOff = keeper.deadlines.after(timeoutMs, () =>
      this.settle(
        this.#firstReturnedAt === undefined
          ? this.#unavailable(` within ${timeoutMs} ms: ${keeper.trouble}`)
          : this.#unroutable(),
      ),
    );
    this.#leave = signal && onAbort(signal, () => this.settle(signal.reason));
  }

  /** Resolves or rejects what `publish` has given, the first time it is called. */
  settle(error?: unknown): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#callOff();
    this.#leave?.();
    if (error === undefined) this.#resolve();
    else this.#reject(error);
    this.#keeper.ended(this);
  }

  /**
   * Sees to what has to be seen to right before the message is written.
   * @returns why it must not go out
   */
  prepare(now: number): Error | undefined {
    if (this.#expiresAt <= now) return this.#unavailable(": its time to live was over before the broker could take it");
    if (this.#isWanted?.() === false) return this.#unavailable(": it was given up before the broker could take it");
    if (this.#expiresAt !== Number.POSITIVE_INFINITY) this.expirationMs = Math.ceil(this.#expiresAt - now);
    if (this.mayBeOut && this.#firstSentAt !== undefined)
      this.properties = asCopy(this.properties, now - this.#firstSentAt);
    this.#firstSentAt ??= now;
    return undefined;
  }

  /** Its channel has ended before the confirm, and it is not sent again. */
  isLost(): void {
    this.settle(this.#unavailable(": the connection was lost before the broker had confirmed"));
  }

  /** The bus is being closed, and the broker has not confirmed it. */
  busCloses(): void {
    const mayHaveBeenTaken = this.#firstReturnedAt === undefined ? this.#firstSentAt !== undefined : this.mayBeOut;
    this.settle(
      new BusClosedError(`Cannot publish to "${this.routingKey}": the bus was closed before the broker had confirmed`, {
        mayHaveBeenTaken,
      }),
    );
  }

  /** The broker has sent it back. @returns whether it is to be offered again; else it is settled */
  comesBack(now: number): boolean {
    this.#firstReturnedAt ??= now;
    if (now - this.#firstReturnedAt < this.#offerAgainMs) return true;
    this.settle(this.#unroutable());
    return false;
  }

  #unroutable(): UnroutableError {
    return new UnroutableError(`Cannot publish to "${this.routingKey}": nobody subscribes to it`, {
      mayHaveBeenTaken: this.mayBeOut,
    });
  }

  #unavailable(why: string): BusUnavailableError {
    return new BusUnavailableError(`Cannot publish to "${this.routingKey}"${why}`, {
      mayHaveBeenTaken: this.#firstSentAt !== undefined,
    });
  }
}

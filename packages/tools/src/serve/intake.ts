import { Buckets, createFairQueue, createFairQueues, RecentMap } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";

export interface IntakeOptions {
  /** How many messages are handled at once. */
  readonly handlers: number;
  /** How many of these run at once; the others are looked at, refused, or wait for that. */
  readonly concurrency: number;
  /** Takes further messages from the bus, until disposed of. */
  readonly takeMore: () => Promise<AsyncDisposable>;
  readonly log: Logger;
  /** Milliseconds that never step back. @default the process's monotonic clock */
  readonly clock?: (() => number) | undefined;
}

/** A caller that has so many of the handlers while none is free is in the way of others. */
const CROWDING_PART = 0.75;
/** The part of all places that one caller may have: others find a place at once, however long its calls take. */
const SHARE_PART = 0.75;
/** Somebody else who was there within this time is there. */
const PRESENT_MS = 60_000;
/** How long after the last sign of a crowd more is taken than is handled. */
const PATIENCE_MS = 10_000;
/** More is not kept of what one caller has here while others are there, whatever its number. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/**
 * The least room that a caller has here: as many requests as a caller of ours has out at most. The policy may allow
 * fewer at once, and refuses the rest in its own words.
 */
const LEAST_ROOM = 256;
/**
 * The requests a second that are taken of a caller that has had more than its room, until it has sent less for a while.
 * A request that runs costs a hundred times as much as one that is dropped.
 */
const RESTRAINED_PER_SECOND = 100;
const MAX_RESTRAINED = 1_000;

/**
 * The requests that come to a service, before it reads them. The queue of the bus knows no callers: the surplus of one
 * caller has to come out of it before the calls of others do. So more is taken from the bus than is handled while one
 * caller has most handlers, none is free and others are there. The requests wait here, callers get places in
 * rotation, and the surplus of one caller can be refused at once. Else no more is taken, so that other instances have
 * it.
 */
export class Intake implements AsyncDisposable {
  readonly #options: IntakeOptions;
  readonly #clock: () => number;
  readonly #handlers = createFairQueue();
  /** By caller, of those that have messages here while one crowds the service. */
  readonly #shares = createFairQueues();
  readonly #held = new Map<string, { count: number; bytes: number }>();
  #heldCount = 0;
  /** The callers that have had more than their room, each with the time when that was last so. */
  readonly #restrained = new RecentMap<string, number>(MAX_RESTRAINED);
  readonly #restraints: Buckets;
  #latest: string | undefined;
  /** When the last two messages in a row were of different callers. */
  #changedAt = Number.NEGATIVE_INFINITY;
  #crowdedAt = Number.NEGATIVE_INFINITY;
  /** How many messages were dropped since a moment of the last second. */
  #dropped = { count: 0, since: Number.NEGATIVE_INFINITY };
  #more: Promise<AsyncDisposable | undefined> | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#restraints = new Buckets({ clock: this.#clock, maxBuckets: MAX_RESTRAINED });
  }

  /** Tells whether the caller may have one more message here. */
  hasRoom(caller: string, bytes: number, inFlight: number): boolean {
    if (this.#more === undefined) return true;
    const { count, bytes: held } = this.#held.get(caller) ?? NOTHING;
    const fits = count === 0 || (count < Math.max(inFlight, LEAST_ROOM) && held + bytes <= MAX_HELD_BYTES);
    const now = this.#clock();
    const isRestrained = now - (this.#restrained.get(caller) ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS;
    if (
      fits &&
      (!isRestrained ||
        this.#restraints.take([{ key: caller, amount: RESTRAINED_PER_SECOND, perMs: 1_000, cost: 1 }]) === undefined)
    )
      return true;
    this.#restrained.set(caller, now);
    this.#crowdedAt = now;
    return false;
  }

  /**
   * Notes that a message is dropped. If many are dropped, more is taken than is handled, even if no other caller is
   * there. Messages that lie in the bus are in the way of the next callers.
   */
  drop(caller: string): void {
    const now = this.#clock();
    if (now - this.#dropped.since > 1_000) this.#dropped = { count: 0, since: now };
    if (++this.#dropped.count >= this.#options.handlers) this.#takeMore(caller, now);
  }

  /** Notes a message until what is returned is disposed of. */
  hold(caller: string, bytes: number): Disposable {
    const held = this.#held.get(caller) ?? { count: 0, bytes: 0 };
    if (held.count === 0) this.#held.set(caller, held);
    held.count++;
    held.bytes += bytes;
    this.#heldCount++;
    if (this.#latest !== undefined && caller !== this.#latest) this.#changedAt = this.#clock();
    this.#latest = caller;
    if (this.#heldCount >= this.#options.handlers && held.count >= CROWDING_PART * this.#options.handlers)
      this.#crowded(caller);
    return {
      [Symbol.dispose]: () => {
        this.#heldCount--;
        held.count--;
        held.bytes -= bytes;
        if (held.count === 0) this.#held.delete(caller);
      },
    };
  }

  /** A place at a handler, until it is disposed of. */
  place(caller: string): Disposable | Promise<Disposable> {
    if (this.#more !== undefined) return this.#takeShare(caller);
    const { handlers } = this.#options;
    return this.#handlers.enterNow(handlers) ?? this.#handlers.enter(caller, { concurrency: handlers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#takeNoMore();
  }

  /** A place within the caller's share of what runs at once. */
  async #takeShare(caller: string): Promise<Disposable> {
    const { concurrency, handlers } = this.#options;
    const most = Math.max(1, Math.floor(SHARE_PART * concurrency));
    const share = await this.#shares.enter(caller, caller, { concurrency: most });
    const handler = await this.#handlers.enter(caller, { concurrency: handlers });
    return {
      [Symbol.dispose]() {
        handler[Symbol.dispose]();
        share[Symbol.dispose]();
      },
    };
  }

  #crowded(caller: string): void {
    const now = this.#clock();
    if (now - this.#changedAt <= PRESENT_MS) this.#takeMore(caller, now);
  }

  #takeMore(caller: string, now: number): void {
    this.#crowdedAt = now;
    if (this.#more !== undefined || this.#isClosed) return;
    const { takeMore, log } = this.#options;
    log.warn(
      { caller: caller.slice(0, 80) },
      "one caller crowds the service, which reads ahead and serves callers in rotation until that ends",
    );
    this.#more = takeMore().catch((error: unknown) => {
      log.warn({ error: String(error) }, "could not read ahead, so callers wait for the whole queue");
      return undefined;
    });
    this.#watch ??= setInterval(() => {
      if (this.#clock() - this.#crowdedAt > PATIENCE_MS) void this.#takeNoMore();
    }, PATIENCE_MS / 10).unref();
  }

  async #takeNoMore(): Promise<void> {
    const more = this.#more;
    this.#more = undefined;
    clearInterval(this.#watch);
    this.#watch = undefined;
    await (await more)?.[Symbol.asyncDispose]();
  }
}

const NOTHING = { count: 0, bytes: 0 };

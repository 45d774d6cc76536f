import type { AbortSource } from "../abort/light-abort.ts";

/** How many run at once, and what ends a wait. */
export interface FairQueueLimits {
  /** How many have a place at once. */
  readonly concurrency: number;
  readonly signal?: AbortSource | undefined;
}

/** The limits of a queue in which not all may wait. */
export interface BoundedQueueLimits extends FairQueueLimits {
  /** How many wait, at most. */
  readonly waiting: number;
}

/** Gives callers their places in rotation, so that one caller with many waiting calls holds up no other. */
export interface FairQueue {
  /**
   * Waits for a place, which `party` has until it disposes of it. Parties that wait get their places in rotation,
   * however many of each wait. When too many wait, the last of the party that has most waiting has to leave: perhaps
   * this one.
   * @returns undefined if too many wait
   * @throws the signal's reason once it aborts
   */
  enter(party: string, limits: BoundedQueueLimits): Promise<Disposable | undefined>;
  enter(party: string, limits: FairQueueLimits): Promise<Disposable>;
  /** A place, if there is one at once: if fewer than `concurrency` run, and nobody waits. */
  enterNow(concurrency: number): Disposable | undefined;
}

/** Fair queues by name. One is there while somebody has a place in it. */
export interface FairQueues {
  /** The same as `enter` of the queue of this name. */
  enter(name: string, party: string, limits: BoundedQueueLimits): Promise<Disposable | undefined>;
  enter(name: string, party: string, limits: FairQueueLimits): Promise<Disposable>;
  /** How many there are. */
  readonly size: number;
}

/** Bounds how much runs at once, with limits that may be others each time: the latest hold. */
export function createFairQueue(): FairQueue {
  return new RotatingQueue(() => {});
}

/** Makes each queue when somebody enters it, and forgets it when nobody has a place in it. */
export function createFairQueues(): FairQueues {
  const queues = new Map<string, RotatingQueue>();
  return {
    get size() {
      return queues.size;
    },
    async enter(name: string, party: string, limits: BoundedQueueLimits) {
      limits.signal?.throwIfAborted(); // before a queue is made that nobody has a place in
      const queue = queues.get(name) ?? new RotatingQueue(() => queues.delete(name));
      queues.set(name, queue);
      return queue.enter(party, limits) as Promise<Disposable>;
    },
  };
}

/**
 * Calls `end` with the first disposal. A class, since each call has one: V8 is slow to make objects with methods that
 * are named by symbols.
 */
class Place implements Disposable {
  #end: (() => void) | undefined;

  constructor(end: () => void) {
    this.#end = end;
  }

  [Symbol.dispose](): void {
    const end = this.#end;
    this.#end = undefined;
    end?.();
  }
}

type Grant = (place: Disposable | undefined) => void;

class RotatingQueue {
  readonly #onIdle: () => void;
  /** The waiting parties, in the order of their next places. */
  readonly #waiting = new Map<string, Set<Grant>>();
  #waitingCount = 0;
  #running = 0;
  #concurrency = 1;

  /** @param onIdle is called when nobody has a place any more */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  enterNow(atOnce: number): Disposable | undefined {
    this.#concurrency = atOnce;
    return this.#running < this.#concurrency && this.#waitingCount === 0 ? this.#place() : undefined;
  }

  enter(party: string, limits: BoundedQueueLimits): Promise<Disposable | undefined>;
  enter(party: string, limits: FairQueueLimits): Promise<Disposable>;
  async enter(
    party: string,
    {
      concurrency: atOnce,
      waiting: maxWaiting = Number.POSITIVE_INFINITY,
      signal,
    }: Partial<BoundedQueueLimits> & FairQueueLimits,
  ): Promise<Disposable | undefined> {
    signal?.throwIfAborted();
    const now = this.enterNow(atOnce);
    if (now !== undefined) return now;
    if (this.#waitingCount >= maxWaiting && !this.#displace(party)) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<Disposable | undefined>();
    const giveUp = (): void => {
      this.#leave(party, grant);
      reject(signal?.reason);
    };
    const grant: Grant = (given) => {
      signal?.removeEventListener("abort", giveUp);
      resolve(given);
    };
    const own = this.#waiting.get(party) ?? new Set();
    this.#waiting.set(party, own.add(grant));
    this.#waitingCount++;
    signal?.addEventListener("abort", giveUp, { once: true });
    this.#grantPlaces(); // the limit may have grown
    return await promise;
  }

  /** A place that passes on is never free in between: nobody who comes later overtakes. */
  #place(): Disposable {
    this.#running++;
    return new Place(() => {
      this.#running--;
      this.#grantPlaces();
      if (this.#running === 0) this.#onIdle();
    });
  }

  #grantPlaces(): void {
    while (this.#waitingCount > 0 && this.#running < this.#concurrency) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [party, grants] = next;
      const [grant] = grants;
      if (grant === undefined) return;
      this.#leave(party, grant);
      if (grants.size > 0) {
        this.#waiting.delete(party); // to the end of the rotation
        this.#waiting.set(party, grants);
      }
      grant(this.#place());
    }
  }

  #leave(party: string, grant: Grant): void {
    const grants = this.#waiting.get(party);
    if (grants === undefined || !grants.delete(grant)) return;
    if (grants.size === 0) this.#waiting.delete(party);
    this.#waitingCount--;
  }

  /** Makes room for one more of the party, if another party has at least two more waiting. */
  #displace(party: string): boolean {
    const own = this.#waiting.get(party)?.size ?? 0;
    let [longest, length] = [party, own];
    for (const [other, grants] of this.#waiting) if (grants.size > length) [longest, length] = [other, grants.size];
    if (length < own + 2) return false;
    const last = [...(this.#waiting.get(longest) ?? [])].at(-1) as Grant;
    this.#leave(longest, last);
    last(undefined);
    return true;
  }
}

import type { AbortSource } from "../abort/light-abort.ts";

/** How many run and wait at once, and what ends a wait. */
export interface FairQueueLimits {
  /** How many have their turn at once. */
  readonly concurrency: number;
  /** How many wait, at most. */
  readonly waiting: number;
  readonly signal?: AbortSource | undefined;
}

/** Gives callers their turns in rotation, so that one caller with many waiting calls holds up no other. */
export interface FairQueue {
  /**
   * Waits for a turn of `party`, which disposing of the turn ends. Parties that wait have their turns in rotation,
   * however many of each wait. When too many wait, the last of the party that has most waiting has to leave: perhaps
   * this one.
   * @returns undefined if too many wait
   * @throws the signal's reason once it aborts
   */
  enter(party: string, limits: FairQueueLimits): Promise<Disposable | undefined>;
  /** A turn, if there is one at once: if fewer than `concurrency` run, and nobody waits. */
  enterNow(concurrency: number): Disposable | undefined;
  /** Nobody has a turn, and nobody waits. */
  readonly isIdle: boolean;
}

/**
 * Calls `end` with the first disposal. A class, since each call has one: V8 is slow to make objects with methods that
 * are named by symbols.
 */
class Turn implements Disposable {
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

type Grant = (turn: Disposable | undefined) => void;

/** Bounds how much runs at once, with limits that may be others each time: the latest hold. */
export function createFairQueue(): FairQueue {
  return new RotatingQueue();
}

class RotatingQueue implements FairQueue {
  /** By party, in the order of their next turns. */
  readonly #waiting = new Map<string, Grant[]>();
  #waitingCount = 0;
  #running = 0;
  #concurrency = 1;

  get isIdle(): boolean {
    return this.#running === 0 && this.#waitingCount === 0;
  }

  enterNow(atOnce: number): Disposable | undefined {
    this.#concurrency = atOnce;
    return this.#running < this.#concurrency && this.#waitingCount === 0 ? this.#turn() : undefined;
  }

  async enter(
    party: string,
    { concurrency: atOnce, waiting: maxWaiting, signal }: FairQueueLimits,
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
    const own = this.#waiting.get(party) ?? [];
    own.push(grant);
    this.#waiting.set(party, own);
    this.#waitingCount++;
    signal?.addEventListener("abort", giveUp, { once: true });
    this.#grantTurns(); // the limit may have grown
    return await promise;
  }

  #turn(): Disposable {
    this.#running++;
    return new Turn(() => {
      this.#running--;
      this.#grantTurns();
    });
  }

  #grantTurns(): void {
    while (this.#waitingCount > 0 && this.#running < this.#concurrency) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [party, grants] = next;
      const grant = grants[0] as Grant;
      this.#leave(party, grant);
      const others = this.#waiting.get(party);
      if (others !== undefined) {
        this.#waiting.delete(party); // to the end of the rotation
        this.#waiting.set(party, others);
      }
      grant(this.#turn());
    }
  }

  #leave(party: string, grant: Grant): void {
    const grants = this.#waiting.get(party) ?? [];
    const index = grants.indexOf(grant);
    if (index < 0) return;
    grants.splice(index, 1);
    if (grants.length === 0) this.#waiting.delete(party);
    this.#waitingCount--;
  }

  /** Makes room for one more of the party, if another party has at least two more waiting. */
  #displace(party: string): boolean {
    const own = this.#waiting.get(party)?.length ?? 0;
    let [longest, length] = [party, own];
    for (const [other, grants] of this.#waiting) if (grants.length > length) [longest, length] = [other, grants.length];
    if (length < own + 2) return false;
    const last = this.#waiting.get(longest)?.at(-1) as Grant;
    this.#leave(longest, last);
    last(undefined);
    return true;
  }
}

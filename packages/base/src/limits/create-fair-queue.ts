import type { AbortSource } from "../abort/light-abort.ts";

export interface FairQueueLimits {
  /** How many have their turn at once. */
  readonly concurrency: number;
  /** How many wait, at most. */
  readonly waiting: number;
  readonly signal?: AbortSource | undefined;
}

export interface FairQueue {
  /**
   * Waits for a turn of `party`, which disposing of the turn ends. Parties that wait have their turns in rotation, however many
   * of each wait. When too many wait, the last of the party that has most waiting has to leave: perhaps this one.
   * @returns undefined if too many wait
   * @throws the signal's reason once it aborts
   */
  enter(party: string, limits: FairQueueLimits): Promise<Disposable | undefined>;
  /** A turn, if it can be had at once: if fewer than `concurrency` run, and nobody waits. */
  enterNow(concurrency: number): Disposable | undefined;
  /** Nobody has a turn, and nobody waits. */
  readonly isIdle: boolean;
}

/** Calls `end` with the first disposal. A class, since each call has one: V8 is slow to make objects with methods that are named by symbols. */
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
  /** By party, in the order of their next turns. */
  const waiting = new Map<string, Grant[]>();
  let waitingCount = 0;
  let running = 0;
  let concurrency = 1;

  function turn(): Disposable {
    running++;
    return new Turn(() => {
      running--;
      grantTurns();
    });
  }

  function grantTurns(): void {
    while (waitingCount > 0 && running < concurrency) {
      const [next] = waiting;
      if (next === undefined) return;
      const [party, grants] = next;
      const grant = grants[0] as Grant;
      leave(party, grant);
      const others = waiting.get(party);
      if (others !== undefined) {
        waiting.delete(party); // to the end of the rotation
        waiting.set(party, others);
      }
      grant(turn());
    }
  }

  function leave(party: string, grant: Grant): void {
    const grants = waiting.get(party) ?? [];
    const index = grants.indexOf(grant);
    if (index < 0) return;
    grants.splice(index, 1);
    if (grants.length === 0) waiting.delete(party);
    waitingCount--;
  }

  /** Makes room for one more of the party, if another party has at least two more waiting. */
  function displace(party: string): boolean {
    const own = waiting.get(party)?.length ?? 0;
    let [longest, length] = [party, own];
    for (const [other, grants] of waiting) if (grants.length > length) [longest, length] = [other, grants.length];
    if (length < own + 2) return false;
    const last = waiting.get(longest)?.at(-1) as Grant;
    leave(longest, last);
    last(undefined);
    return true;
  }

  function enterNow(atOnce: number): Disposable | undefined {
    concurrency = atOnce;
    return running < concurrency && waitingCount === 0 ? turn() : undefined;
  }

  return {
    enterNow,
    get isIdle() {
      return running === 0 && waitingCount === 0;
    },
    async enter(party, { concurrency: atOnce, waiting: maxWaiting, signal }) {
      signal?.throwIfAborted();
      const now = enterNow(atOnce);
      if (now !== undefined) return now;
      if (waitingCount >= maxWaiting && !displace(party)) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<Disposable | undefined>();
      const giveUp = (): void => {
        leave(party, grant);
        reject(signal?.reason);
      };
      const grant: Grant = (given) => {
        signal?.removeEventListener("abort", giveUp);
        resolve(given);
      };
      const own = waiting.get(party) ?? [];
      own.push(grant);
      waiting.set(party, own);
      waitingCount++;
      signal?.addEventListener("abort", giveUp, { once: true });
      grantTurns(); // the limit may have grown
      return await promise;
    },
  };
}

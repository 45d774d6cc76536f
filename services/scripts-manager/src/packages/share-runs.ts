import { unlessAborted } from "@rockbot/base";

interface SharedRun<Result> {
  readonly result: Promise<Result>;
  readonly stop: AbortController;
  waiting: number;
  /** It has what it needs, and is worth its end though nobody waits. */
  isBegun: boolean;
}

/** @param begun - to be called once the run has got what others wait for */
type Run<Result> = (signal: AbortSignal, begun: () => void) => Promise<Result>;

export interface Patience {
  readonly signal: AbortSignal;
  /** When the result is of no use any more to this one, on the clock of `performance.now()`. */
  readonly until: number;
  /** What is thrown then. */
  readonly late: () => Error;
}

/**
 * Runs what is wanted by several at once only once. A run is aborted when the last that waits for it has given up; one
 * that has begun goes on where that one has merely run out of time: it may ask again.
 * @returns `run` of the key's first, or the one that runs already @throws what the run throws; the signal's reason;
 * what `late` gives
 */
export function shareRuns<Result>(): (key: string, patience: Patience, run: Run<Result>) => Promise<Result> {
  const running = new Map<string, SharedRun<Result>>();

  function begin(key: string, run: Run<Result>): SharedRun<Result> {
    const stop = new AbortController();
    const result = Promise.resolve().then(() =>
      run(stop.signal, () => {
        shared.isBegun = true;
      }),
    );
    const shared: SharedRun<Result> = { result, stop, waiting: 0, isBegun: false };
    running.set(key, shared);
    const forget = (): void => {
      if (running.get(key) === shared) running.delete(key);
    };
    shared.result.then(forget, forget);
    return shared;
  }

  return async (key, { signal, until, late }, run) => {
    signal.throwIfAborted();
    const shared = running.get(key) ?? begin(key, run);
    shared.waiting++;
    const lapse = new AbortController();
    const timer = setTimeout(() => lapse.abort(late()), Math.max(0, until - performance.now()));
    try {
      return await unlessAborted(shared.result, AbortSignal.any([signal, lapse.signal]));
    } finally {
      clearTimeout(timer);
      const goesOn = shared.isBegun && lapse.signal.aborted && !signal.aborted;
      if (--shared.waiting === 0 && !goesOn) {
        if (running.get(key) === shared) running.delete(key); // a newcomer must not join a run that is being stopped
        shared.stop.abort(signal.reason);
      }
    }
  };
}

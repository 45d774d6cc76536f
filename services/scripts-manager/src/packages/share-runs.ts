import { unlessAborted } from "@rockbot/async";

interface SharedRun<Result> {
  readonly result: Promise<Result>;
  readonly stop: AbortController;
  waiting: number;
}

/**
 * Runs what is wanted by several at once only once. A run is aborted when the last that waits for it has given up.
 * @returns `run` of the key's first, or the one that runs already @throws what the run throws; the signal's reason
 */
export function shareRuns<Result>(): (key: string, signal: AbortSignal, run: (signal: AbortSignal) => Promise<Result>) => Promise<Result> {
  const running = new Map<string, SharedRun<Result>>();

  function begin(key: string, run: (signal: AbortSignal) => Promise<Result>): SharedRun<Result> {
    const stop = new AbortController();
    const shared = { result: run(stop.signal), stop, waiting: 0 };
    running.set(key, shared);
    const forget = (): void => {
      if (running.get(key) === shared) running.delete(key);
    };
    shared.result.then(forget, forget);
    return shared;
  }

  return async (key, signal, run) => {
    signal.throwIfAborted();
    const shared = running.get(key) ?? begin(key, run);
    shared.waiting++;
    try {
      return await unlessAborted(shared.result, signal);
    } finally {
      if (--shared.waiting === 0) {
        if (running.get(key) === shared) running.delete(key); // who comes now must not join what is being stopped
        shared.stop.abort(signal.reason);
      }
    }
  };
}

import { setTimeout } from "node:timers/promises";

/** Runs `step` now and again `everyMs` milliseconds after each end, until disposed. `step` handles its own failures. */
export function startLoop(everyMs: number, step: (signal: AbortSignal) => Promise<void> | void): AsyncDisposable {
  const stop = new AbortController();
  const loop = (async () => {
    while (!stop.signal.aborted) {
      await step(stop.signal);
      await setTimeout(everyMs, undefined, { signal: stop.signal, ref: false }).catch(() => {}); // rejects only when stopped
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await loop;
    },
  };
}

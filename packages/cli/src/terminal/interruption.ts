import { takeSignals } from "@rockbot/process";
import { Interrupted } from "../interrupted.ts";

/** The first Ctrl-C or SIGTERM. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>;
}

/**
 * A signal that aborts at the first Ctrl-C or SIGTERM. At one that comes a second later or more the process ends at
 * once, as by that signal.
 */
export function interruption(): Interruption {
  const controller = new AbortController();
  const { promise: requested, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const taken = takeSignals(signals, {
    first(signal) {
      resolve(signal);
      controller.abort();
    },
    again(signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  });
  return { signal: controller.signal, requested, [Symbol.dispose]: () => taken[Symbol.dispose]() };
}

/**
 * The result of `work`, unless a signal asks for the end before.
 * @throws {Interrupted} then; the work is left to itself and ends with the process
 */
export function unlessInterrupted<T>(work: Promise<T>, requested: Promise<NodeJS.Signals>): Promise<T> {
  const interrupted = requested.then((signal) => {
    throw new Interrupted(signal);
  });
  return Promise.race([work, interrupted]);
}

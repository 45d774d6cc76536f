import { writeSync } from "node:fs";
import { takeSignals } from "./take-signals.ts";

/** Which signals ask for the end, and how long running work may take. */
export interface OnShutdownOptions {
  /**
   * Time for running work to finish after the first signal, in milliseconds. Keep it some seconds below the
   * supervisor's own limit.
   */
  readonly graceMs: number;
  /** @default ["SIGTERM", "SIGINT"] */
  readonly signals?: readonly NodeJS.Signals[] | undefined;
}

/**
 * The end of this process, as asked for from outside. Disposal gives the signals back to Node if none has come; a
 * started countdown goes on.
 */
export interface Shutdown extends Disposable {
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>;
  /** True once the first signal has come. A service that drains is not ready for more. */
  readonly isRequested: boolean;
  /** Aborts when the grace is over: what still runs must end now. */
  readonly signal: AbortSignal;
}

/** The time that aborted work has to end, before the process ends without it. */
const ABORT_MS = 2000;
/** @see https://nodejs.org/api/timers.html: longer delays become 1 ms */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Turns SIGTERM and SIGINT into an ordered stop. A second signal, a second later or more, ends the process at once with
 * code 1. So does the grace plus two seconds, and a stop that needed the abort ends with code 1 even if it is orderly.
 * Until the first signal the process stays, even if it holds nothing open; the countdown holds up no process that is
 * done.
 */
export function onShutdown({ graceMs, signals = ["SIGTERM", "SIGINT"] }: OnShutdownOptions): Shutdown {
  const { promise: requested, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const grace = new AbortController();
  let isRequested = false;
  const stay = setInterval(() => {}, LONGEST_TIMER_MS);

  function stop(signal: NodeJS.Signals): void {
    isRequested = true;
    clearInterval(stay);
    resolve(signal);
    setTimeout(() => {
      process.exitCode = 1;
      grace.abort(new DOMException(`Stopped: the grace of ${graceMs} ms is over`, "AbortError"));
      setTimeout(exit, ABORT_MS, `work still runs ${graceMs + ABORT_MS} ms after ${signal}`).unref();
    }, graceMs).unref();
  }

  const taken = takeSignals(signals, { first: stop, again: (signal) => exit(`a second signal (${signal})`) });
  return {
    requested,
    get isRequested() {
      return isRequested;
    },
    signal: grace.signal,
    [Symbol.dispose]() {
      clearInterval(stay);
      taken[Symbol.dispose]();
    },
  };
}

function exit(reason: string): never {
  writeSync(process.stderr.fd, `The process ends at once: ${reason}\n`);
  process.exit(1);
}

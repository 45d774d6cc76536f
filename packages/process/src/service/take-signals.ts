/** Listeners for the first signal and for later ones. */
export interface SignalListeners {
  /** Gets the first signal. */
  readonly first: (signal: NodeJS.Signals) => void;
  /** Gets each that comes a second or more after the first. */
  readonly again: (signal: NodeJS.Signals) => void;
}

/**
 * Ctrl-C under npm comes twice, from the terminal and handed on by npm, which may be slow: what follows this fast is
 * the same request.
 */
const REPEAT_MS = 1_000;

/**
 * Takes signals that would otherwise end the process. Disposal gives them back to Node if none has come. After the
 * first one they stay taken to the process's end. The request may come a second time, even while the process ends, and
 * would turn an ordered end into a death by signal.
 */
export function takeSignals(signals: readonly NodeJS.Signals[], { first, again }: SignalListeners): Disposable {
  let takenAt: number | undefined;

  function take(signal: NodeJS.Signals): void {
    if (takenAt === undefined) {
      takenAt = performance.now();
      // Node gives its signals back before it takes itself apart. It does not take itself apart after a call of exit.
      process.once("beforeExit", () => process.exit());
      first(signal);
    } else if (performance.now() - takenAt >= REPEAT_MS) again(signal);
  }

  for (const signal of signals) process.on(signal, take);
  return {
    [Symbol.dispose]() {
      if (takenAt === undefined) for (const signal of signals) process.off(signal, take);
    },
  };
}

/** Waits. Tests have their own, to play days in a moment. */
export interface Timers {
  /** Calls `onOver` after so many milliseconds; it must not throw. @returns calls it off */
  after(ms: number, onOver: () => void): () => void;
}

/** setTimeout takes a longer wait for none at all. */
const MAX_WAIT_MS = 2 ** 31 - 1;

/** The timers of the process, which do not keep it alive. */
export const processTimers: Timers = {
  after(ms, onOver) {
    const timer = setTimeout(onOver, Math.min(Math.max(0, ms), MAX_WAIT_MS)).unref();
    return () => clearTimeout(timer);
  },
};

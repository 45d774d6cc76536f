import { type CallCounts, ToolErrorCode } from "@rockbot/contracts";

/** The bounds of the buckets of durations in heartbeats: see CallCounts in the schema of messages. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000,
  15_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];
/** More codes than these share one row: tools may make up codes. */
const MAX_CODES = 31;
const OTHER = "other";
/** A flood of these must not make the service look quick. */
const REFUSALS: ReadonlySet<string> = new Set([
  ToolErrorCode.Denied,
  ToolErrorCode.InvalidArguments,
  ToolErrorCode.Overloaded,
  ToolErrorCode.RateLimited,
  ToolErrorCode.ToolNotFound,
]);

/**
 * Counts the calls of one service since its start, for its heartbeats. Metrics count the same by tool for the whole
 * process, which may have several services, and may be off.
 */
export class CallTally {
  readonly #codes = new Map<string, number>();
  readonly #durations = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  #inFlight = 0;

  began(): void {
    this.#inFlight++;
  }

  /** @param status `superseded` if another instance answers the call, `parked` if its record does */
  ended(status: string, ms: number): void {
    this.#inFlight--;
    if (status === "superseded" || status === "parked") return;
    this.refused(status);
    if (REFUSALS.has(status)) return;
    const bucket = bucketOf(ms);
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1;
  }

  /** Counts a call that has not begun. */
  refused(code: string): void {
    const row = this.#codes.has(code) || this.#codes.size < MAX_CODES ? code : OTHER;
    this.#codes.set(row, (this.#codes.get(row) ?? 0) + 1);
  }

  /** @param oldestMs the age of the oldest call that waits */
  counts(oldestMs: number): CallCounts {
    return {
      outcomes: [...this.#codes].map(([code, count]) => ({ code: code.slice(0, 64), count })),
      durations: this.#durations.slice(0, this.#durations.findLastIndex((count) => count > 0) + 1),
      inFlight: this.#inFlight,
      oldestMs: Math.round(oldestMs),
    };
  }
}

function bucketOf(ms: number): number {
  const bucket = DURATION_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return bucket === -1 ? DURATION_BOUNDS_MS.length : bucket;
}

import type { CallCounts } from "@rockbot/contracts";
import { DURATION_BOUNDS_MS } from "@rockbot/tools";

/** The part of an instance's counts that only grows. */
type Counts = Pick<CallCounts, "outcomes" | "durations">;

/**
 * The most codes of one service that are kept apart. Each instance has fewer, and a stranger may send others each time.
 */
const MAX_CODES = 64;
const OTHER = "other";
const OK = "ok";

/** The ends of calls, added up over instances or over time. */
export class CallSum {
  readonly #codes = new Map<string, number>();
  readonly #durations = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  #ended = 0;

  get ended(): number {
    return this.#ended;
  }

  get failed(): number {
    return this.#ended - (this.#codes.get(OK) ?? 0);
  }

  /** The failures by their codes, the most frequent first. */
  get failures(): Readonly<Record<string, number>> {
    const failures = [...this.#codes].filter(([code]) => code !== OK);
    return Object.fromEntries(failures.sort(([, a], [, b]) => b - a));
  }

  add({ outcomes, durations }: Counts): void {
    for (const { code, count } of outcomes) {
      if (count === 0) continue;
      const row = this.#codes.has(code) || this.#codes.size < MAX_CODES ? code : OTHER;
      this.#codes.set(row, (this.#codes.get(row) ?? 0) + count);
      this.#ended += count;
    }
    for (const [bucket, count] of durations.entries())
      if (bucket < this.#durations.length) this.#durations[bucket] = (this.#durations[bucket] ?? 0) + count;
  }

  get counts(): Counts {
    return { outcomes: [...this.#codes].map(([code, count]) => ({ code, count })), durations: this.#durations };
  }

  /** @returns milliseconds that so large a part of the calls did not exceed, by their buckets; null without calls */
  quantile(part: number): number | null {
    let left = part * this.#durations.reduce((sum, count) => sum + count, 0);
    if (left === 0) return null;
    for (const [bucket, count] of this.#durations.entries()) {
      const from = DURATION_BOUNDS_MS[bucket - 1] ?? 0;
      const to = DURATION_BOUNDS_MS[bucket] ?? from;
      if (left <= count) return from + (to - from) * (left / count);
      left -= count;
    }
    return DURATION_BOUNDS_MS.at(-1) ?? null;
  }
}

/** What has come to an instance's counts. A count that has fallen is that of a new start. */
export function grownSince(before: Counts, now: Counts): Counts {
  const known = new Map(before.outcomes.map(({ code, count }) => [code, count]));
  const outcomes = now.outcomes.map(({ code, count }) => ({ code, count: count - (known.get(code) ?? 0) }));
  const durations = now.durations.map((count, bucket) => count - (before.durations[bucket] ?? 0));
  const hasFallen = outcomes.some(({ count }) => count < 0) || durations.some((count) => count < 0);
  return hasFallen ? now : { outcomes, durations };
}

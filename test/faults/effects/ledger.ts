import { AwakeClock } from "@rockbot/base";
import { ToolError } from "@rockbot/contracts";

/** What became of a number of calls, seen from outside: Jepsen's total-queue checker, for calls. */
export interface LedgerReport {
  /** Calls that the rate and the time of the run ask for. */
  readonly planned: number;
  readonly asked: number;
  readonly answered: number;
  /** Calls that ended in an error, by its code or name. */
  readonly failed: Readonly<Record<string, number>>;
  /** Asked, and neither answered nor failed. */
  readonly lost: readonly string[];
  /** Calls that got another call's answer. */
  readonly crossed: readonly string[];
  /** Calls that settled after their deadline and the grace that the contract allows. */
  readonly late: readonly string[];
  /** Calls whose effect happened more than once. */
  readonly repeated: readonly string[];
  /** Calls that were answered without an effect. */
  readonly hollow: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface LoadOptions {
  readonly perSecond: number;
  /** A call must settle by its deadline, and this much. */
  readonly deadlineMs: number;
  /** Ends the load; calls that are out are waited for. */
  readonly signal: AbortSignal;
  /** Ends it too, after so many calls. @default no limit */
  readonly maxCalls?: number | undefined;
  /** Makes one call. @returns the id that its answer has */
  readonly call: (id: string) => Promise<string>;
}

/** A run that made fewer of its calls shows nothing. */
const MIN_PART_ASKED = 0.95;
/** What a call may take beyond its deadline. */
export const GRACE_MS = 500;
/** How much longer than its deadline a call is waited for, to tell a late one from a lost one. */
export const LOST_AFTER_MS = 5_000;

/** Time that the callers' own process stood still makes no call late. */
const clock = new AwakeClock();

export class Ledger {
  readonly #asked = new Map<string, number>();
  readonly #durations: number[] = [];
  readonly #effects = new Map<string, number>();
  #planned = 0;
  readonly #failed: Record<string, number> = {};
  readonly #answered: string[] = [];
  readonly #answeredAt: number[] = [];
  readonly #settled = new Set<string>();
  readonly #crossed: string[] = [];
  readonly #late: string[] = [];

  /** Takes over what the services have written down: how often each call had its effect. */
  addEffects(counts: ReadonlyMap<string, number>): void {
    for (const [id, count] of counts) this.#effects.set(id, (this.#effects.get(id) ?? 0) + count);
  }

  /** Makes calls at an even rate, whatever becomes of them, until the signal; then waits for those that are out. */
  async run({ perSecond, deadlineMs, signal, call, maxCalls = Number.POSITIVE_INFINITY }: LoadOptions): Promise<void> {
    const out = new Set<Promise<void>>();
    const start = performance.now();
    for (let number = 0; ; ) {
      const due = Math.min(maxCalls, Math.floor(((performance.now() - start) * perSecond) / 1_000));
      for (; number < due; number++) {
        const one = this.#one(`${this.#asked.size}`, deadlineMs, call);
        out.add(one);
        void one.finally(() => out.delete(one));
      }
      if (signal.aborted || number >= maxCalls) break; // after those that were due by then
      await new Promise((resolve) => setTimeout(resolve, 5)); // the pace
    }
    this.#planned += Math.min(maxCalls, Math.floor(((performance.now() - start) * perSecond) / 1_000));
    const end = new Promise<void>((resolve) => setTimeout(resolve, deadlineMs + LOST_AFTER_MS).unref());
    await Promise.race([Promise.all(out), end]);
  }

  /** Calls made so far. */
  get asked(): number {
    return this.#asked.size;
  }

  /** When the first answer after `at` came, on the clock of `performance.now()`; undefined if none has yet. */
  firstAnswerAfter(at: number): number | undefined {
    return this.#answeredAt[this.#answeredAt.findLastIndex((answered) => answered <= at) + 1];
  }

  /** The answered part of the calls that were made between two times, on the clock of `performance.now()`. */
  partAnswered(from: number, to: number): number {
    const made = [...this.#asked].filter(([, at]) => at >= from && at <= to);
    const answered = new Set(this.#answered);
    return made.filter(([id]) => answered.has(id)).length / made.length;
  }

  report(): LedgerReport {
    const sorted = this.#durations.toSorted((a, b) => a - b);
    const at = (part: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
    return {
      planned: this.#planned,
      asked: this.#asked.size,
      answered: this.#answered.length,
      failed: this.#failed,
      lost: [...this.#asked.keys()].filter((id) => !this.#settled.has(id)),
      crossed: this.#crossed,
      late: this.#late,
      repeated: [...this.#effects].filter(([, count]) => count > 1).map(([id]) => id),
      hollow: this.#answered.filter((id) => !this.#effects.has(id)),
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
    };
  }

  async #one(id: string, deadlineMs: number, call: LoadOptions["call"]): Promise<void> {
    const start = performance.now();
    this.#asked.set(id, start);
    const callOff = clock.after(deadlineMs + GRACE_MS, () => this.#late.push(id));
    try {
      const answer = await call(id);
      this.#answered.push(id);
      this.#answeredAt.push(performance.now());
      if (answer !== id) this.#crossed.push(id);
    } catch (error) {
      const name = error instanceof ToolError ? error.code : error instanceof Error ? error.name : "not an error";
      this.#failed[name] = (this.#failed[name] ?? 0) + 1;
    }
    callOff();
    this.#settled.add(id);
    this.#durations.push(performance.now() - start);
  }
}

/**
 * The rules of delivery that a run has broken, in words; also that it did too little to show any. Empty if all is well.
 */
export function brokenRules({ planned, asked, lost, crossed, late, hollow }: LedgerReport): string[] {
  const count = (what: string, ids: readonly string[]) =>
    ids.length === 0 ? [] : [`${ids.length} ${what}: ${ids.slice(0, 5).join(", ")}`];
  return [
    ...(asked < MIN_PART_ASKED * planned ? [`only ${asked} of ${planned} planned calls were made`] : []),
    ...count("lost", lost),
    ...count("crossed", crossed),
    ...count("late", late),
    ...count("answered without an effect", hollow),
  ];
}

/** The figures that a table shows. */
export function summary({
  answered,
  lost,
  repeated,
  crossed,
  late,
  failed,
  p50Ms,
  p99Ms,
}: LedgerReport): Record<string, number> {
  return {
    answered,
    lost: lost.length,
    "doubled effects": repeated.length,
    crossed: crossed.length,
    late: late.length,
    ...failed,
    "call p50 ms": p50Ms,
    "call p99 ms": p99Ms,
  };
}

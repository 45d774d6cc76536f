import type { Overview } from "@rockbot/console/api";
import { type CallRecord, CallState, isOpen } from "@rockbot/records/journal";

/** What an overview says of calls. */
type CallStats = Pick<Overview, "minutes" | "codes" | "running">;

const MINUTE_MS = 60_000;
const MINUTES = 60;

/** What the records say of the hour before `now`, in Unix milliseconds. */
export function callStats(records: readonly StatedCall[], now: number): CallStats {
  const last = Math.floor(now / MINUTE_MS);
  const took = Array.from({ length: MINUTES }, (): number[] => []);
  const failed = took.map(() => 0);
  const codes = new Map<string, number>();
  let running = 0;
  for (const record of records) {
    if (isOpen(record)) {
      if (record.deadlineAt > now) running++;
      continue;
    }
    const startAt = record.steps[0]?.at;
    const endAt = record.steps.findLast(({ step }) => step === record.state)?.at;
    const index = MINUTES - 1 - (last - Math.floor((endAt ?? 0) / MINUTE_MS));
    if (startAt === undefined || endAt === undefined || took[index] === undefined) continue;
    took[index].push(endAt - startAt);
    if (record.state === CallState.Answered) continue;
    failed[index] = (failed[index] ?? 0) + 1;
    const code = record.code ?? record.state;
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  const minutes = took.map((times, index) => {
    const sorted = times.sort((a, b) => a - b);
    const at = (last - (MINUTES - 1 - index)) * MINUTE_MS;
    return { at, ended: times.length, failed: failed[index] ?? 0, p50: rank(sorted, 0.5), p95: rank(sorted, 0.95) };
  });
  return { minutes, codes: Object.fromEntries([...codes].sort(([, a], [, b]) => b - a)), running };
}

type StatedCall = Pick<CallRecord, "state" | "code" | "deadlineAt" | "steps">;

/** The smallest of the sorted values that so large a part of them does not exceed. */
const rank = (sorted: readonly number[], part: number): number | null =>
  sorted[Math.ceil(part * sorted.length) - 1] ?? null;

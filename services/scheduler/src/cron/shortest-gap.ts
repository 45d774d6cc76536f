import type { CronTimes } from "./read-cron.ts";

/**
 * So many fires are looked at. Any gap below an hour that repeats from day to day, or at the turn of a month, is among
 * them.
 */
const MAX_FIRES = 500;

/**
 * The first two fires after `from` that are closer than `leastMs`. Two fires of one minute, or of two that follow each
 * other, stand next to each other at the expression's first day: a gap below a minute is found for certain.
 */
export function tooCloseFires(
  times: CronTimes,
  { from, leastMs }: { readonly from: number; readonly leastMs: number },
): readonly [number, number] | undefined {
  let before: number | undefined;
  let fire = times.next(from);
  for (let i = 0; i < MAX_FIRES && fire !== undefined; i++) {
    if (before !== undefined && fire - before < leastMs) return [before, fire];
    before = fire;
    fire = times.next(fire);
  }
  return undefined;
}

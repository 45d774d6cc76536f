import type { FloodRow } from "./run-floods.ts";

/**
 * What one agent may cost the others, whatever it sends and for how long. What services can see to is that a flood
 * costs little more than by the broker and the machine alone, which the control shows; whether it doubles the time of a
 * call without one depends on how many processors the broker has to itself.
 */
const BOUNDS = {
  successes: 0.99,
  p99Times: 2,
  redisKeys: 60_000,
  redisMiB: 64,
  queuedMiB: 256,
  diskMiB: 2_048,
} as const;

export const tableHead = `| flood | published/s | others' calls | ok | p50 ms (control, without) | p99 ms (control, without) | Redis keys | Redis MiB | queued MiB | disk MiB | the broker says |
|---|---|---|---|---|---|---|---|---|---|---|`;

export function tableRow(row: FloodRow): string {
  const { flood, publishedPerSecond, calls, successes, redisKeys, redisMiB, queuedMiB, diskMiB, refusal } = row;
  const ms = (during: number, control: number, without: number): string =>
    `${during.toFixed(0)} (${control.toFixed(0)}, ${without.toFixed(0)})`;
  const cells = [
    flood,
    publishedPerSecond,
    calls,
    `${(100 * successes).toFixed(1)} %`,
    ms(row.p50Ms, row.controlP50Ms, row.quietP50Ms),
    ms(row.p99Ms, row.controlP99Ms, row.quietP99Ms),
    redisKeys,
    redisMiB.toFixed(1),
    queuedMiB.toFixed(1),
    diskMiB.toFixed(0),
    refusal.slice(0, 60) || "—",
  ];
  return `| ${cells.join(" | ")} |`;
}

/** What a row shows that may not be, in words. @param isTimed whether times count: not where others use the machine */
export function brokenBounds(
  { flood, successes, p99Ms, quietP99Ms, controlP99Ms, ...sizes }: FloodRow,
  { isTimed = true } = {},
): string[] {
  const words: string[] = [];
  if (successes < BOUNDS.successes)
    words.push(`${flood}: only ${(100 * successes).toFixed(1)} % of the others' calls ended well`);
  const times = (comparedMs: number): string => `${(p99Ms / comparedMs).toFixed(1)} times as long`;
  if (isTimed && p99Ms > BOUNDS.p99Times * quietP99Ms)
    words.push(
      `${flood}: the others' p99 is ${times(quietP99Ms)} as without it, and ${times(controlP99Ms)} as beside the control`,
    );
  for (const name of ["redisKeys", "redisMiB", "queuedMiB", "diskMiB"] as const)
    if (!(sizes[name] <= BOUNDS[name]))
      words.push(`${flood}: ${name} rose by ${sizes[name].toFixed(0)}, more than ${BOUNDS[name]}`);
  return words;
}

import type { FloodRow } from "./run-floods.ts";

/** What one agent may cost the others, whatever it sends and for how long. */
const BOUNDS = { successes: 0.99, p99Times: 2, redisKeys: 60_000, redisMiB: 64, queuedMiB: 256, diskMiB: 2_048 } as const;

export const tableHead = `| flood | published/s | others' calls | ok | p50 ms (without) | p99 ms (without) | Redis keys | Redis MiB | queued MiB | disk MiB | the broker says |
|---|---|---|---|---|---|---|---|---|---|---|`;

export function tableRow(row: FloodRow): string {
  const { flood, publishedPerSecond, calls, successes, p50Ms, quietP50Ms, p99Ms, quietP99Ms, redisKeys, redisMiB, queuedMiB, diskMiB, refusal } = row;
  const ms = (during: number, without: number): string => `${during.toFixed(0)} (${without.toFixed(0)})`;
  const cells = [
    flood,
    publishedPerSecond,
    calls,
    `${(100 * successes).toFixed(1)} %`,
    ms(p50Ms, quietP50Ms),
    ms(p99Ms, quietP99Ms),
    redisKeys,
    redisMiB.toFixed(1),
    queuedMiB.toFixed(1),
    diskMiB.toFixed(0),
    refusal.slice(0, 60) || "—",
  ];
  return `| ${cells.join(" | ")} |`;
}

/** What a row shows that may not be, in words. @param isTimed whether times count: not where others use the machine */
export function brokenBounds({ flood, successes, p99Ms, quietP99Ms, ...sizes }: FloodRow, { isTimed = true } = {}): string[] {
  const words: string[] = [];
  if (successes < BOUNDS.successes) words.push(`${flood}: only ${(100 * successes).toFixed(1)} % of the others' calls ended well`);
  if (isTimed && p99Ms > BOUNDS.p99Times * quietP99Ms) words.push(`${flood}: the others' p99 is ${(p99Ms / quietP99Ms).toFixed(1)} times as long`);
  for (const name of ["redisKeys", "redisMiB", "queuedMiB", "diskMiB"] as const)
    if (!(sizes[name] <= BOUNDS[name])) words.push(`${flood}: ${name} rose by ${sizes[name].toFixed(0)}, more than ${BOUNDS[name]}`);
  return words;
}

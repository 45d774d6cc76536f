/** How measured times are spread, as a table shows it. */
export function spread(what: string, times: readonly number[]): Record<string, number> {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);
  return { [`${what}, p50 ms`]: at(0.5), "p99 ms": at(0.99) };
}

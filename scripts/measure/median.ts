/** The middle of `values`, or the mean of the two in the middle. @throws {RangeError} if there are none */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  if (low === undefined || high === undefined) throw new RangeError("Cannot take the median of no values");
  return (low + high) / 2;
}

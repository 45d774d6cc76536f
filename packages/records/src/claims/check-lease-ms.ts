/** @throws {RangeError} if it is not a positive whole number of milliseconds */
export function checkLeaseMs(leaseMs: number): void {
  if (!Number.isSafeInteger(leaseMs) || leaseMs < 1)
    throw new RangeError(`Cannot hold a lease: leaseMs must be a positive whole number, got ${leaseMs}`);
}

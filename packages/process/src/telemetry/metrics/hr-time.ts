/** A time of the SDK's. */
export type HrTime = [seconds: number, nanoseconds: number];

/** @param ms Unix milliseconds */
export const toHrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

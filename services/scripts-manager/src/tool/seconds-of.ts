/** How long a script may run that does not say, in seconds. */
const DEFAULT_SECONDS = 30;

/** A time-out as peers write it, a number or a text of one; the default if it is neither. */
export function secondsOf(value: number | string | null | undefined): number {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds : DEFAULT_SECONDS;
}

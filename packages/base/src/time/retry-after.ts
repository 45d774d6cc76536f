const LONGEST_MS = 24 * 3600 * 1000;
/** A date of HTTP begins with the name of its day; what else Date.parse takes, such as "-3600" for a year, is none. */
const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * The wait a `Retry-After` header asks for: seconds, or a date.
 * @returns milliseconds, at most a day; undefined if the header is absent or neither
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterMs(header: string | undefined, now: () => number = Date.now): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : DATE.test(text) ? Date.parse(text) - now() : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_MS);
}

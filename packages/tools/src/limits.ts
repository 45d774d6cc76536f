/** How long a call may take when the caller does not say. */
export const DEFAULT_TIMEOUT_MS = 60_000;
/** The longest a call may take: 10 minutes below the broker's own limit for an unacknowledged message. */
export const MAX_TIMEOUT_MS = 20 * 60_000;
/** A result's body, at most. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;
/** Calls that one caller has out at once, at most, when it does not say. */
export const MAX_CALLS_IN_FLIGHT = 256;

/** How long a call may take when the caller does not say. */
export const DEFAULT_TIMEOUT_MS = 60_000;
/** The longest a call may take: 10 minutes below the broker's own limit for an unacknowledged message. */
export const MAX_TIMEOUT_MS = 20 * 60_000;
/** The body of a result that crosses the bus, at most. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;
/** A larger result goes by the blob store, where both sides have one. */
export const INLINE_RESULT_BYTES = 256 * 1024;
/** The body of a result that goes by the blob store, at most. */
export const MAX_BLOB_RESULT_BYTES = 32 * 1024 * 1024;
/** A result stays there for so long after its call's deadline: a caller that is restarted meanwhile fetches it. */
export const BLOB_GRACE_MS = 10 * 60_000;
/** A call settles within 500 ms after its deadline, so a result is fetched in less. */
export const FETCH_GRACE_MS = 400;
/** Calls that one caller has out at once, at most, when it does not say. */
export const MAX_CALLS_IN_FLIGHT = 256;
/** An instance says this often that it is there. */
export const HEARTBEAT_MS = 1_000;
/** An instance that has not been heard of for this long may be gone: the bus is asked. */
export const LEASE_MS = 3 * HEARTBEAT_MS;
/** A page of a list of tools has fewer bytes. */
export const MAX_PAGE_BYTES = 256 * 1024;
/** A service's list, with the changes since it came whole; as much as a service answers at once. */
export const MAX_LIST_BYTES = 32 * 1024 * 1024;
/** An announcement is of use for as long as it takes to be repeated. */
export const ANNOUNCEMENT_TTL_MS = 10_000;
/** An update that cannot be delivered at once is of no use. */
export const PROGRESS_TTL_MS = 5_000;
/** So many updates of one call are handed on as they come; beyond that they are PROGRESS_INTERVAL_MS apart. */
export const PROGRESS_BURST = 10;
/** The shortest time between two progress messages of a call, in milliseconds. */
export const PROGRESS_INTERVAL_MS = 200;
/** A cancel that nobody has taken by then finds no call to cancel. */
export const CANCEL_TTL_MS = 60_000;
/**
 * At least so many cancelled calls of one caller are remembered, and as many ended ones. A caller may have as many
 * calls at once. Other callers push none of them out.
 */
export const REMEMBERED_CANCELS = 256;

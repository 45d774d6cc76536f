/** A request's body holds at most so many bytes, on the bus and at each door. */
export const MAX_REQUEST_BYTES = 1024 * 1024;

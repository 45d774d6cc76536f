/**
 * A store did not answer in time, refused, is full or closed, or holds what cannot be read: nothing is known about the
 * operation.
 */
export class StoreUnavailableError extends Error {
  override readonly name: string = "StoreUnavailableError";
}

/**
 * A store that has room for others takes nothing more of this caller now. The message names the share that is used up,
 * and what to do.
 */
export class StoreFullError extends StoreUnavailableError {
  override readonly name = "StoreFullError";
}

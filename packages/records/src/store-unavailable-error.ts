/** A store did not answer in time, refused, is full or closed, or holds what cannot be read: nothing is known about the operation. */
export class StoreUnavailableError extends Error {
  override readonly name = "StoreUnavailableError";
}

/** Somebody else has the call now: this run's result is dropped, and the other's is the answer. */
export class SupersededError extends Error {
  override readonly name = "SupersededError";
}

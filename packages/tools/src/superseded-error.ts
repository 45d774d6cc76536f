/** Somebody else has the call now: this run's result is dropped, and the other's is the answer. */
export class SupersededError extends Error {
  override readonly name: string = "SupersededError";
  readonly status: string = "superseded";
}

/** The call waits for a person, or runs detached: its record answers for it, and this delivery has done its part. */
export class ParkedError extends SupersededError {
  override readonly name = "ParkedError";
  override readonly status = "parked";
}

/** The replica that was asked does not have the server, or is gone: it has certainly not sent it the call. */
export class NotTakenError extends Error {
  override readonly name = "NotTakenError";
}

/** The reason in the answer of a replica that does not have the server. */
export const NOT_TAKEN = "not_owner";

/** The reason in an error if the replica that has the server was lost over the call. */
export const OWNER_LOST = "owner_lost";

/** The replica that was asked does not have the server, or is gone: it has certainly not sent it the call. */
export class NotTakenError extends Error {
  override readonly name = "NotTakenError";
}

/** What the answer of a replica that does not have the server says as its reason. */
export const NOT_TAKEN = "not_owner";

/** What an error says as its reason if the replica that has the server was lost over the call. */
export const OWNER_LOST = "owner_lost";

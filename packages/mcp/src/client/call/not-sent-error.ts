/** The request has certainly not reached the server: it may be sent again. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
}

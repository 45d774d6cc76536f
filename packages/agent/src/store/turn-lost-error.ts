/** Another process runs the turn now, or will: this one has nothing to say about it any more. */
export class TurnLostError extends Error {
  override readonly name = "TurnLostError";
}

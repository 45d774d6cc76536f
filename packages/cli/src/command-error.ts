/** The command was right and could not be carried out. The message is for the user. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The machine lacks something that the user of the command can mend. The message is one line for them. */
export class SetupError extends Error {
  name = "SetupError";
}

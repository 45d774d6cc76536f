/** The machine lacks something that whoever runs the command can mend. The message is one line for them. */
export class SetupError extends Error {
  name = "SetupError";
}

/** The meanings of the command's exit code. */
export const ExitCode = {
  /** Answered. */
  Ok: 0,
  /** The tool failed, or what it needs is away. */
  Failed: 1,
  /** Wrong usage: doing the same again gives the same. */
  Usage: 2,
  /** Ended by Ctrl-C. */
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

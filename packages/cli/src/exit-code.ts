/** The meanings of the command's exit code. */
export const ExitCode = {
  /**
   * Answered. `rockbot up` and `rockbot mcp serve` end so after Ctrl-C or SIGTERM, too, if their calls end within the
   * grace.
   */
  Ok: 0,
  /** The tool failed, or what it needs is away. */
  Failed: 1,
  /** Wrong usage: doing the same again gives the same. */
  Usage: 2,
  /** The call has no end yet: it waits for a person, or runs on. `rockbot calls wait` waits for it. */
  Pending: 3,
  /** Ended by Ctrl-C. */
  Interrupted: 130,
  /** Ended by SIGTERM. */
  Terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

import { ToolError, ToolErrorCode } from "./tool-error.ts";

/** The facts about a call whose deadline has passed. */
export interface TimedOut {
  readonly mayHaveRun: boolean;
  /** A second run does no harm: the tool only reads, or is idempotent. @default false */
  readonly isRepeatSafe?: boolean | undefined;
  readonly cause?: unknown;
}

/**
 * The error of a call without a result by its deadline, written for a model. Its code says that the call may be
 * retried, as it always has. So the words have to say when a retry would repeat an effect.
 * @param what as a sentence begins: `"browse"`
 */
export function timeoutError(what: string, { mayHaveRun, isRepeatSafe = false, cause }: TimedOut): ToolError {
  const state = !mayHaveRun
    ? "It was not started. Try again with a longer timeout."
    : isRepeatSafe
      ? "It may have run, and does no harm if it runs again. Try again with a longer timeout."
      : "It may have run, or may still run, and may have had effects: find out before you make another call of it.";
  return new ToolError(ToolErrorCode.Timeout, `${what} gave no result by its deadline. ${state}`, {
    cause,
    details: { mayHaveRun },
  });
}

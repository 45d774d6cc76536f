import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** A sandbox that went before its script had begun: another may run it. */
export function unbegunError(reason: string, words: string, cause?: Error): ToolError {
  return new ToolError(ToolErrorCode.Unavailable, `The script was not begun. ${words} Try again.`, {
    cause,
    details: { reason, mayHaveRun: false },
  });
}

/** True if the script that met this error has certainly not begun, and may go to another sandbox. */
export const isUnbegun = (error: unknown): error is ToolError =>
  error instanceof ToolError && error.details?.["mayHaveRun"] === false;

/** How often a script that has not begun is given to another sandbox: what ends that many would end more. */
export const SANDBOXES_FOR_A_SCRIPT = 3;

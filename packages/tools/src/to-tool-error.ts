import { redact } from "@rockbot/base/redaction";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";

const MAX_MESSAGE = 500;
/** Secrets are looked for in so much of a message, before it is cut: half a secret would not be known as one. */
const MAX_SCANNED = 16 * 1024;

/**
 * The error that a call ends in after a tool threw. A ToolError stays as it is and a time-out becomes `timeout`.
 * Anything else becomes `execution_failed` with the first line of its message. Stacks and causes stay here.
 */
export function toToolError(error: unknown, toolName: string): ToolError {
  if (error instanceof ToolError) return error;
  const message = error instanceof Error ? firstLine(error.message) : "";
  if (error instanceof Error && error.name === "TimeoutError") {
    return new ToolError(ToolErrorCode.Timeout, `"${toolName}" ran into a time limit: ${message}`, {
      cause: error,
      details: { mayHaveRun: true },
    });
  }
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `"${toolName}" failed: ${message === "" ? "it gave no reason" : message}`,
    { cause: error },
  );
}

const firstLine = (message: string): string =>
  (redact(message.slice(0, MAX_SCANNED)).split("\n", 1)[0] ?? "").slice(0, MAX_MESSAGE);

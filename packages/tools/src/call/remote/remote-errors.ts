import {
  BusClosedError,
  BusUnavailableError,
  MessageTooLargeError,
  QueueFullError,
  RequestTimeoutError,
  SubscriptionTakenError,
  UnroutableError,
} from "@rockbot/bus";
import { ToolError, ToolErrorCode, timeoutError } from "@rockbot/contracts";
import type { FoundTool } from "../../discover/tool-holders.ts";

/** When a queue or a broker that is full may have room again: a guess, so that callers do not come back at once. */
const RETRY_AFTER_MS = 1_000;

/** No instance of the tool's service runs. */
export const unavailable = (tool: FoundTool, cause?: unknown): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `"${tool.name}" cannot be called now: the service "${tool.service}" that offers it is not running. Try again later.`,
    { cause },
  );

/** @param why what has no room */
export const overloaded = (tool: FoundTool, why: string, cause?: unknown): ToolError =>
  new ToolError(ToolErrorCode.Overloaded, `"${tool.name}" cannot be called now: ${why}. Try again later.`, {
    cause,
    retryAfterMs: RETRY_AFTER_MS,
  });

/** The meaning of an error of the bus for a call; any other error stays as it is. */
export function toCallError(tool: FoundTool, error: unknown): unknown {
  if (error instanceof RequestTimeoutError) {
    const isRepeatSafe = tool.readOnly || tool.idempotent;
    return timeoutError(`"${tool.name}"`, { mayHaveRun: true, isRepeatSafe, cause: error });
  }
  if (error instanceof UnroutableError) return unavailable(tool, error);
  if (error instanceof SubscriptionTakenError) return nameTaken(tool, error);
  if (error instanceof BusClosedError) return busClosed(tool, error);
  if (error instanceof BusUnavailableError) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${tool.name}" cannot be called now: the message bus does not answer. Try again later.`,
      { cause: error },
    );
  }
  if (error instanceof QueueFullError) return overloaded(tool, `too many calls wait for "${tool.service}"`, error);
  if (error instanceof MessageTooLargeError)
    return new ToolError(ToolErrorCode.TooLarge, error.message, { cause: error });
  return error;
}

const nameTaken = (tool: FoundTool, cause: SubscriptionTakenError): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `"${tool.name}" cannot be called now: other processes receive the answers under this one's name. Give each process its own \`instance\`, or try again once they have ended.`,
    { cause, details: { mayHaveRun: false } },
  );

function busClosed({ name, readOnly, idempotent }: FoundTool, cause: BusClosedError): ToolError {
  const details = { mayHaveRun: cause.mayHaveBeenTaken };
  if (cause.mayHaveBeenTaken && !readOnly && !idempotent) {
    const message = `"${name}" was called, and this process closed its bus before the answer came. It may have had effects: find out before you make another call of it.`;
    return new ToolError(ToolErrorCode.OutcomeUnknown, message, { cause, details });
  }
  return new ToolError(ToolErrorCode.Unavailable, `"${name}" cannot be called: this process has closed its bus`, {
    cause,
    details,
    isRetryable: false,
  });
}

import { A2AError } from "@a2a-js/sdk/errors";
import { saidBy, ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";

const MAX_SAID = 300;
/** Reasons of A2A that blame the request, not the agent. */
const ARGUMENTS: ReadonlySet<string> = new Set([
  "TASK_NOT_FOUND",
  "REQUEST_MALFORMED",
  "CONTENT_TYPE_NOT_SUPPORTED",
  "UNSUPPORTED_OPERATION",
]);
/** The reasons with which an agent refuses a request before it does anything. With any other it may have begun. */
const REFUSALS: ReadonlySet<string> = new Set([
  ...ARGUMENTS,
  "INVALID_PARAMS",
  "TASK_NOT_CANCELABLE",
  "PUSH_NOTIFICATION_NOT_SUPPORTED",
  "EXTENSION_SUPPORT_REQUIRED",
  "VERSION_NOT_SUPPORTED",
]);

/** Tells whether asking again changes nothing: the agent has refused, or the request was not sent. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof ToolError) return error.code === ToolErrorCode.Denied;
  return REFUSALS.has(a2aErrorIn(error)?.reason ?? "");
}

/**
 * True if the agent sent more than the bound of one answer. For a request with effects the code says first that it may
 * have run.
 */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ToolError &&
  (error.code === ToolErrorCode.TooLarge || error.details?.["reason"] === ToolErrorCode.TooLarge);

/** What an agent that was asked for a task said instead. */
export function refusalWords(error: unknown): string | undefined {
  const said = a2aErrorIn(error);
  return said === undefined
    ? undefined
    : `(${said.reason.slice(0, 50)}). Its words: ${JSON.stringify(visibleText(said.message).slice(0, MAX_SAID))}`;
}

/** The error of the first answer in words for a model. The SDK's own texts quote whole answers. */
export function agentError(agent: string, error: unknown): ToolError {
  if (error instanceof ToolError)
    return isTooLarge(error)
      ? new ToolError(
          ToolErrorCode.TooLarge,
          `The agent "${agent}" sent an answer larger than the limit, so the call was ended. Ask it for less.`,
          {
            cause: error,
            details: { mayHaveRun: true },
          },
        )
      : error;
  const refusal = a2aErrorIn(error);
  if (refusal !== undefined && isRefusal(error)) {
    const code = ARGUMENTS.has(refusal.reason) ? ToolErrorCode.InvalidArguments : ToolErrorCode.ExecutionFailed;
    return new ToolError(code, `The agent "${agent}" refuses the request ${refusalWords(error)}.`, {
      details: { mayHaveRun: false },
      trust: saidBy(`a2a:${agent}`),
    });
  }
  const status = error instanceof Error ? /\bStatus: (\d{3})\b|: (\d{3}) /.exec(error.message.slice(0, 300)) : null;
  const other =
    status === null ? "its answer does not follow A2A" : `it answered with status ${status[1] ?? status[2]}`;
  const what = refusal === undefined ? other : `it failed ${refusalWords(error)}`;
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `The agent "${agent}" was sent the request, and ${what}. It may have begun the task: find out before you send it again.`,
    {
      cause: error,
      details: { mayHaveRun: true },
      ...(refusal === undefined ? {} : { trust: saidBy(`a2a:${agent}`) }),
    },
  );
}

/**
 * The error that the agent itself has answered; one in a stream is the cause of another. Without a transport the SDK
 * has made it, of an answer that it cannot read.
 */
function a2aErrorIn(error: unknown): A2AError | undefined {
  const found = error instanceof Error && !(error instanceof A2AError) ? error.cause : error;
  return found instanceof A2AError && "transport" in found ? found : undefined;
}

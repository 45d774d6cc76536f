import { A2AError } from "@a2a-js/sdk/errors";
import { ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";

const MAX_SAID = 300;
/** Of A2A's reasons: the request is wrong, not the agent. */
const ARGUMENTS: ReadonlySet<string> = new Set(["TASK_NOT_FOUND", "REQUEST_MALFORMED", "CONTENT_TYPE_NOT_SUPPORTED", "UNSUPPORTED_OPERATION"]);

/** Whether the agent has answered, or the request was not sent: asking again changes nothing. */
export const isRefusal = (error: unknown): boolean =>
  a2aErrorIn(error) !== undefined || (error instanceof ToolError && (error.code === ToolErrorCode.Denied || isTooLarge(error)));

/** Of a request with effects the code says first that it may have run. */
const isTooLarge = ({ code, details }: ToolError): boolean => code === ToolErrorCode.TooLarge || details?.["reason"] === ToolErrorCode.TooLarge;

/** The error in words for a model. The SDK's own texts quote whole answers. */
export function agentError(agent: string, error: unknown): ToolError {
  if (error instanceof ToolError)
    return isTooLarge(error)
      ? new ToolError(ToolErrorCode.TooLarge, `The agent "${agent}" sent more than is read of one answer, so the call was ended. Ask it for less.`, {
          cause: error,
          details: { mayHaveRun: true },
        })
      : error;
  const refusal = a2aErrorIn(error);
  if (refusal !== undefined) {
    const said = visibleText(refusal.message).slice(0, MAX_SAID);
    const code = ARGUMENTS.has(refusal.reason) ? ToolErrorCode.InvalidArguments : ToolErrorCode.ExecutionFailed;
    return new ToolError(code, `The agent "${agent}" refuses the request (${refusal.reason.slice(0, 50)}). Its words: ${JSON.stringify(said)}.`, {
      details: { mayHaveRun: false },
    });
  }
  const status = error instanceof Error ? /\bStatus: (\d{3})\b|: (\d{3}) /.exec(error.message.slice(0, 300)) : null;
  const what = status === null ? "its answer is none of A2A" : `it answered with status ${status[1] ?? status[2]}`;
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `The agent "${agent}" was sent the request, and ${what}. It may have begun the task: find out before you send it again.`,
    {
      cause: error,
      details: { mayHaveRun: true },
    },
  );
}

/** The error that the agent itself has answered; one in a stream is the cause of another. */
function a2aErrorIn(error: unknown): A2AError | undefined {
  if (error instanceof A2AError) return error;
  return error instanceof Error && error.cause instanceof A2AError ? error.cause : undefined;
}

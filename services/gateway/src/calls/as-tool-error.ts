import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";

export interface AsToolErrorOptions {
  readonly caller: Pick<ToolCaller, "tools">;
  /** True if the request may be with the service: it was handed to the bus. */
  readonly isSent: boolean;
  /** Aborts when the process stops and running calls are not waited for any longer. */
  readonly signal: AbortSignal | undefined;
  readonly log: Logger;
}

/**
 * Why a call failed, for its client. One that ended because this process stops is not the client's doing: another
 * gateway may answer it, if a second run does no harm.
 */
export function asToolError(
  error: unknown,
  toolName: string,
  { caller, isSent, signal, log }: AsToolErrorOptions,
): ToolError {
  if (error instanceof ToolError && !(signal?.aborted && error.code === ToolErrorCode.Cancelled)) return error;
  if (signal?.aborted) {
    const tool = caller.tools.getTools().find(({ name }) => name === toolName);
    const isRepeatSafe = !isSent || tool?.readOnly === true || tool?.idempotent === true;
    const help = isRepeatSafe ? "Try again" : "Find out what it did before you make another call of it";
    return new ToolError(
      isRepeatSafe ? ToolErrorCode.Unavailable : ToolErrorCode.OutcomeUnknown,
      `Cannot finish the call of "${toolName}": the gateway is stopping. ${isSent ? "The tool may have run" : "Nothing was run"}. ${help}`,
      { details: { mayHaveRun: isSent } },
    );
  }
  log.error({ err: error }, "a call failed in the gateway");
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot call "${toolName}": the gateway failed. Its log says why`,
  );
}

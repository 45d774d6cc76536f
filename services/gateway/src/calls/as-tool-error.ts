import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";

export interface AsToolErrorOptions {
  /** Aborts when the process stops and running calls are not waited for any longer. */
  readonly signal: AbortSignal | undefined;
  readonly log: Logger;
}

/** Why a call failed, for its client. One that ended because this process stops is not the client's doing: another gateway may answer it. */
export function asToolError(error: unknown, toolName: string, { signal, log }: AsToolErrorOptions): ToolError {
  if (error instanceof ToolError && !(signal?.aborted && error.code === ToolErrorCode.Cancelled)) return error;
  if (signal?.aborted) {
    return new ToolError(ToolErrorCode.Unavailable, `Cannot finish the call of "${toolName}": the gateway is stopping. The tool may have run`, {
      details: { mayHaveRun: true },
    });
  }
  log.error({ err: error }, "a call failed in the gateway");
  return new ToolError(ToolErrorCode.ExecutionFailed, `Cannot call "${toolName}": the gateway failed. Its log says why`);
}

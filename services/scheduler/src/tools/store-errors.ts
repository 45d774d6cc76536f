import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { StoreFullError, StoreUnavailableError } from "@rockbot/records";

/**
 * Runs what uses the store, whose absence is the caller's to hear of.
 * @throws {ToolError} `unavailable` while the store is away
 */
export async function withStore<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    if (error instanceof StoreFullError)
      throw new ToolError(ToolErrorCode.Overloaded, `Cannot ${what}: ${error.message}`, {
        details: { reason: "caller_share", mayHaveRun: false },
        cause: error,
      });
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot ${what}: the store of scheduled tasks does not answer. Try again later.`,
      { cause: error },
    );
  }
}

import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { MemoryFullError } from "../memory-full-error.ts";

/**
 * Does something with the memory for a model.
 * @throws {ToolError} that says in words what the memory refused: it is full or away, or a value is beyond a bound
 */
export async function withMemory<Value>(use: () => Promise<Value>): Promise<Value> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof MemoryFullError)
      throw new ToolError(ToolErrorCode.ExecutionFailed, error.message, { cause: error });
    if (error instanceof StoreUnavailableError) {
      throw new ToolError(
        ToolErrorCode.Unavailable,
        "Working memory cannot be reached now. Try again shortly, or go on without it.",
        { cause: error },
      );
    }
    if (error instanceof RangeError)
      throw new ToolError(ToolErrorCode.InvalidArguments, error.message, { cause: error });
    throw error;
  }
}

/** The answer about a key that nothing is under. */
export const nothingUnder = (key: string) => ({
  content: `Nothing is kept in working memory under "${key}": it was never saved, was deleted, or has expired. list_working_memory shows what there is.`,
  isError: true,
});

import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";

/** Runs what uses a store. @throws {ToolError} `unavailable` while the database is away */
export async function withStore<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot ${what}: the agent's database does not answer. Try again later.`,
      { cause: error },
    );
  }
}

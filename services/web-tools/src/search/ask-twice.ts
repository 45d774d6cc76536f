import { pause } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** The longest wait for another try, in milliseconds: a caller can do something else in more. */
const MAX_WAIT_MS = 20_000;
/** What the other try itself may need, in milliseconds. */
const RESERVE_MS = 1_000;

/**
 * Asks, and once more if the service says how soon it may be asked again, and that lies well before the deadline.
 * @param deadline on the clock of `performance.now()`
 * @throws what the last try throws
 */
export async function askTwice<T>(ask: () => Promise<T>, { signal, deadline }: { readonly signal: AbortSignal; readonly deadline: number }): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== ToolErrorCode.RateLimited || error.retryAfterMs === undefined) throw error;
    if (error.retryAfterMs > MAX_WAIT_MS || performance.now() + error.retryAfterMs + RESERVE_MS > deadline) throw error;
    await pause(error.retryAfterMs, signal);
    signal.throwIfAborted();
    return await ask();
  }
}

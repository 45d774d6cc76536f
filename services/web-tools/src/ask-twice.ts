import { pause } from "@rockbot/base";
import { ToolError } from "@rockbot/contracts";

/** The longest wait for another try, in milliseconds: a caller can do something else in more. */
const MAX_WAIT_MS = 20_000;
/** Who says 0 is given that, in milliseconds. */
const MIN_WAIT_MS = 500;
/** What the other try itself may need, in milliseconds. */
const RESERVE_MS = 1_000;

/**
 * Asks, and once more if the site or service says how soon it may be asked again, as with 429 and 503, and that lies
 * well before the deadline.
 * @param deadline on the clock of `performance.now()`
 * @throws what the last try throws
 */
export async function askTwice<T>(
  ask: () => Promise<T>,
  { signal, deadline }: { readonly signal: AbortSignal; readonly deadline: number },
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ToolError) || error.retryAfterMs === undefined) throw error;
    if (error.retryAfterMs > MAX_WAIT_MS || performance.now() + error.retryAfterMs + RESERVE_MS > deadline) throw error;
    await pause(Math.max(error.retryAfterMs, MIN_WAIT_MS), signal);
    signal.throwIfAborted();
    return await ask();
  }
}

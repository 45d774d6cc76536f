import { onAbort } from "./light-abort.ts";

/**
 * Waits for `work` until the signal aborts. The work itself goes on: what it does later is nobody's concern. Leaves no
 * listener at the signal: one that stayed would keep it for as long as this process has one that it is made of.
 * @throws the signal's reason
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = onAbort(signal, () => reject(signal.reason));
  try {
    return await Promise.race([aborted, work]);
  } finally {
    leave();
  }
}

import { once } from "node:events";
import type { Writable } from "node:stream";

/**
 * Writes, and waits for as long as the stream wants no more; one that is over is waited for no longer.
 * @returns whether the stream is still there
 * @throws the signal's reason
 */
export async function writeTo(stream: Writable, data: Buffer, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  if (!stream.writable) return false;
  if (stream.write(data)) return true;
  const settled = new AbortController();
  const listening = { signal: AbortSignal.any([signal, settled.signal]) };
  try {
    await Promise.race([once(stream, "drain", listening), once(stream, "close", listening)]);
  } catch {
    signal.throwIfAborted(); // else the stream has failed: its reader says why
  } finally {
    settled.abort();
  }
  return stream.writable;
}

import { once } from "node:events";
import type { ServerResponse } from "node:http";

export interface SendStreamOptions {
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a client may leave what it was sent unread before its connection is cut. */
  readonly stallMs: number;
  /** Called when the client does not read on; what it returns, once it does. */
  readonly onStall?: (() => () => void) | undefined;
}

/**
 * Sends a response whose body comes bit by bit, at the client's pace; resolves when it has been sent, or its client is
 * gone. No more is taken from the body than the client reads; once it is gone, the body is cancelled.
 */
export async function sendStream(
  outgoing: ServerResponse,
  response: Response,
  { headers, stallMs, onStall }: SendStreamOptions,
): Promise<void> {
  const reader = response.body?.getReader();
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  if (outgoing.closed) gone.abort();
  gone.signal.addEventListener("abort", () => void reader?.cancel().catch(() => {}), { once: true });
  try {
    outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), ...headers });
    outgoing.flushHeaders();
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
      if (gone.signal.aborted) return;
      if (outgoing.write(next.value)) continue;
      const readsOn = onStall?.();
      await once(outgoing, "drain", { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(stallMs)]) });
      readsOn?.();
    }
    outgoing.end();
  } catch {
    outgoing.destroy(); // not read in time, or its source has failed
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

import { setTimeout } from "node:timers/promises";
import { backoffMs } from "@rockbot/base";
import { ApiError } from "./api-error.ts";

const ATTEMPTS = 5;
/** One attempt. */
const DEADLINE_MS = 10_000;
/** An API server that asks for more is as good as away. */
const LONGEST_WAIT_MS = 30_000;

const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * An API server that has just started has not read all Roles yet. Where one is really missing, its answer stays the
 * same.
 */
const isWithoutRoles = ({ status, said }: ApiError): boolean => status === 403 && /RBAC: .+ not found/.test(said);

/**
 * Makes a request again that failed for what passes: no connection, no answer in time, a server that is busy, broken or
 * only just there. At most five attempts, not before the server wants the next.
 * @throws the last attempt's error; the signal's reason once it aborts
 */
export async function retried<T>(signal: AbortSignal, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      return await attempt(AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]));
    } catch (error) {
      signal.throwIfAborted();
      const isPassing = !(error instanceof ApiError) || PASSING.has(error.status) || isWithoutRoles(error);
      const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      if (!isPassing || failures === ATTEMPTS || askedMs > LONGEST_WAIT_MS) throw error;
      await setTimeout(askedMs + backoffMs(failures, { leastPart: 0.5 }), undefined, { signal }).catch(() =>
        signal.throwIfAborted(),
      );
    }
  }
}

import { pause } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { parseRedisAddress, type RedisUrl } from "../redis-address.ts";
import { RedisConnection } from "./redis-connection.ts";

const TRY_MS = 5_000;
const PAUSE_MS = 1_000;

/**
 * Resolves with true once Redis has answered, however long it is away or refuses; with false once the signal aborts.
 */
export async function untilReached(
  url: RedisUrl,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<boolean> {
  while (!signal.aborted) {
    const connection = new RedisConnection(parseRedisAddress(url), {
      log,
      purpose: "readiness",
      whileAway: "the process is not ready",
      scripts: {},
    });
    const close = (): Promise<void> => connection.close();
    signal.addEventListener("abort", close);
    await connection.start(TRY_MS).catch(() => {}); // its log says why
    const isReached = connection.isUp;
    signal.removeEventListener("abort", close);
    await close();
    if (isReached) return true;
    await pause(PAUSE_MS, signal);
  }
  return false;
}

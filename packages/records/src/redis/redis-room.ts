import type { RedisConnection, RedisScripts } from "./redis-connection.ts";

/** Large texts take at most this part of Redis's maxmemory. The rest is for what is small and matters more: claims, rates, journals. */
const PART = 0.75;
/** An answer of Redis about its memory counts for so long, together with what was written since. */
const FRESH_MS = 1_000;

/** The room that a Redis has for large texts. One that is full refuses every write of everybody, as it must drop nothing. */
export class RedisRoom<Scripts extends RedisScripts> {
  readonly #connection: RedisConnection<Scripts>;
  #left = Number.POSITIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(connection: RedisConnection<Scripts>) {
    this.#connection = connection;
  }

  /** Whether there is room for so many bytes; then they count as written. @throws {StoreUnavailableError} if Redis does not answer */
  async take(bytes: number): Promise<boolean> {
    if (performance.now() - this.#readAt > FRESH_MS) {
      this.#left = await this.#read();
      this.#readAt = performance.now();
    }
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  async #read(): Promise<number> {
    const info = await this.#connection.run("ask for the room left", (redis) => redis.info("memory").catch(nothingIfForbidden));
    const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(String(info))?.[1] ?? 0);
    const most = number("maxmemory");
    return most === 0 ? Number.POSITIVE_INFINITY : most * PART - number("used_memory");
  }
}

/** A user without that right does without the guard. */
function nothingIfForbidden(error: Error): string {
  if (error.message.startsWith("NOPERM")) return "";
  throw error;
}

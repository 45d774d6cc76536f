import { silentLogger } from "@rockbot/bus";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  type RedisStoreOptions,
  type RedisUrl,
} from "@rockbot/records/redis";
import type { SummaryStore } from "../summary-store.ts";

/** One that nobody has asked for so long is made anew. */
const KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Summaries in Redis, shared by all processes that use it. Each operation is one command, and ends within 500 ms. While
 * Redis is away operations fail.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisSummaryStore(url: RedisUrl, options: RedisStoreOptions = {}): Promise<SummaryStore> {
  return connectStore(new RedisSummaryStore(parseRedisAddress(url), options), options);
}

class RedisSummaryStore implements SummaryStore {
  readonly #connection: RedisConnection<Record<string, never>>;
  readonly #prefix: string;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#prefix = `${prefix}:{summaries}`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "summaries",
      whileAway: "services keep the texts that they have, and new summaries are made later",
      scripts: {},
    });
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async get(hash: string): Promise<string | undefined> {
    const kept = await this.#connection.run("read a summary", (redis) =>
      redis.getex(`${this.#prefix}:${hash}`, "PX", KEPT_MS),
    );
    return typeof kept === "string" ? kept : undefined;
  }

  async set(hash: string, summary: string): Promise<void> {
    await this.#connection.run("keep a summary", (redis) =>
      redis.set(`${this.#prefix}:${hash}`, summary, "PX", KEPT_MS),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close();
  }
}

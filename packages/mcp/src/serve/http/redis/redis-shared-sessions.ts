import { createHash } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  type RedisStoreOptions,
  type RedisUrl,
} from "@rockbot/records/redis";
import { CANCELS_KEPT_MS, type SessionRequest, type SharedSessions } from "../shared-sessions.ts";

const MAX_CANCELS = 1_000;

/**
 * Both are sorted sets by the time of the last use: the sessions of one caller, and the requests of all that are to be
 * cancelled.
 */
const commands = {
  /**
   * KEYS: set. ARGV: member, how long it is kept, how many there may be, whether it may be new. Answers whether it is
   * there.
   */
  useEntry: {
    numberOfKeys: 1,
    lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
if ARGV[4] ~= '1' and not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`,
  },
} as const;

/**
 * Sessions in Redis, shared by all gateways that use it.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisSharedSessions(
  url: RedisUrl,
  options: RedisStoreOptions = {},
): Promise<SharedSessions> {
  return connectStore(new RedisSharedSessions(parseRedisAddress(url), options), options);
}

class RedisSharedSessions implements SharedSessions {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #prefix: string;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#prefix = `${prefix}:{journal}:mcp-sessions`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "mcp-sessions",
      whileAway: "only the gateway that opened a session of an MCP client answers it",
      scripts: commands,
    });
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async use(
    ...[caller, id, { isNew = false, maxPerCaller, idleMs }]: Parameters<SharedSessions["use"]>
  ): Promise<boolean> {
    const key = this.#sessionsOf(caller);
    return (
      (await this.#connection.run("use a session", (redis) =>
        redis.useEntry(key, id, idleMs, maxPerCaller, isNew ? 1 : 0),
      )) === 1
    );
  }

  async end(caller: string | undefined, id: string): Promise<void> {
    await this.#connection.run("end a session", (redis) => redis.zrem(this.#sessionsOf(caller), id));
  }

  async cancel(request: SessionRequest): Promise<void> {
    await this.#connection.run("cancel a request", (redis) =>
      redis.useEntry(this.#cancels, nameOf(request), CANCELS_KEPT_MS, MAX_CANCELS, 1),
    );
  }

  async takeCancelled<Request extends SessionRequest>(running: readonly Request[]): Promise<readonly Request[]> {
    const names = new Set(
      (await this.#connection.run("look for cancelled requests", (redis) =>
        redis.zrange(this.#cancels, "0", "-1"),
      )) as string[],
    );
    const cancelled = running.filter((request) => names.has(nameOf(request)));
    if (cancelled.length > 0)
      await this.#connection.run("take cancelled requests", (redis) =>
        redis.zrem(this.#cancels, ...cancelled.map(nameOf)),
      );
    return cancelled;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close();
  }

  get #cancels(): string {
    return `${this.#prefix}:cancels`;
  }

  #sessionsOf(caller: string | undefined): string {
    return `${this.#prefix}:of:${caller ?? ""}`;
  }
}

/** Names have one length, however long the id that the client chose. */
const nameOf = ({ sessionId, requestId }: SessionRequest): string =>
  createHash("sha256")
    .update(JSON.stringify([sessionId, requestId]))
    .digest("base64url");

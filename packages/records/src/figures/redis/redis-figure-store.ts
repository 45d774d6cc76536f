import { silentLogger } from "@rockbot/bus";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  type RedisStoreOptions,
  type RedisUrl,
} from "../../redis/index.ts";
import { DAY_BYTES, type FigureRow, type FigureStore, MAX_DAYS } from "../figure-store.ts";
import { commands } from "./commands.ts";

/** A day, and an hour in which its oldest minutes are of no use any more. */
const TTL_SECONDS = 25 * 3_600;

/**
 * Days of services in Redis, shared by all gateways. Each operation ends within 500 ms.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisFigureStore(url: RedisUrl, options: RedisStoreOptions = {}): Promise<FigureStore> {
  return connectStore(new RedisFigureStore(parseRedisAddress(url), options), options);
}

class RedisFigureStore implements FigureStore {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #prefix: string;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#prefix = `${prefix}:{figures}:`;
    const whileAway = "charts are of what this gateway has seen itself";
    this.#connection = new RedisConnection(address, { log, purpose: "figures", whileAway, scripts: commands, ca });
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async load(): Promise<ReadonlyMap<string, Buffer>> {
    const what = "read the calls of the last day";
    const services = (await this.#connection.run(what, (redis) =>
      redis.zrevrange(this.#index, 0, MAX_DAYS - 1),
    )) as string[];
    const days = new Map<string, Buffer>();
    for (const service of services) {
      const day = (await this.#connection.run(what, (redis) =>
        redis.getrangeBuffer(this.#dayOf(service), 0, DAY_BYTES - 1),
      )) as Buffer;
      if (day.byteLength > 0) days.set(service, day);
    }
    return days;
  }

  async keep(service: string, { at, bytes }: FigureRow): Promise<Buffer | undefined> {
    const kept = await this.#connection.run("keep a minute of calls", (redis) =>
      redis.keepRowBuffer(
        this.#dayOf(service),
        this.#index,
        service,
        at,
        bytes,
        TTL_SECONDS,
        MAX_DAYS,
        TTL_SECONDS / 60,
      ),
    );
    return (kept as Buffer | null) ?? undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  get #index(): string {
    return `${this.#prefix}services`;
  }

  #dayOf(service: string): string {
    return `${this.#prefix}day:${service}`;
  }
}

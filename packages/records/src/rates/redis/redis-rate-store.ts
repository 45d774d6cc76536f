import { metrics } from "@opentelemetry/api";
import type { Charge, Shortage } from "@rockbot/base";
import { silentLogger } from "@rockbot/bus";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  type RedisStoreOptions,
  type RedisUrl,
} from "../../redis/index.ts";
import { createMemoryRateStore } from "../memory/memory-rate-store.ts";
import type { RateStore } from "../rate-store.ts";
import { commands } from "./commands.ts";

/**
 * The rates that callers have used up, in Redis, shared by all processes that use it. Each operation is one round trip.
 * While Redis is away each process counts by itself: a limit then holds for each process, and no caller is refused for
 * it.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {Error} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisRateStore(url: RedisUrl, options: RedisStoreOptions = {}): Promise<RateStore> {
  return connectStore(new RedisRateStore(parseRedisAddress(url), options), options);
}

class RedisRateStore implements RateStore {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #prefix: string;
  readonly #own = createMemoryRateStore();
  readonly #alone = metrics.getMeter("@rockbot/rates").createCounter("rockbot.rates.counted_alone", {
    description: "Calls counted by this process alone, as Redis was away.",
  });

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#prefix = `${prefix}:{rates}`; // the braces make a cluster keep all in one place, as a script needs its keys
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "rates",
      whileAway: "each process counts the calls of callers alone",
      scripts: commands,
    });
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async take(charges: readonly Charge[]): Promise<Shortage | undefined> {
    if (charges.length === 0) return undefined;
    const keys = charges.map(({ key }) => this.#name(key));
    const values = charges.flatMap(({ amount, perMs, cost }) => [amount, perMs, cost]);
    let answer: unknown;
    try {
      answer = await this.#connection.run("count a call", (redis) =>
        redis.takeFromBuckets(keys.length, ...keys, ...values),
      );
    } catch {
      this.#alone.add(1);
      return this.#own.take(charges);
    }
    if (answer === null) return undefined;
    const [place, retryAfterMs] = answer as [number, number];
    return { index: place - 1, retryAfterMs };
  }

  async charge(charge: Charge): Promise<void> {
    const { key, amount, perMs, cost } = charge;
    try {
      await this.#connection.run("count bytes", (redis) => redis.chargeBucket(this.#name(key), amount, perMs, cost));
    } catch {
      await this.#own.charge(charge);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
    await this.#own[Symbol.asyncDispose]();
  }

  #name(key: string): string {
    return `${this.#prefix}:${key}`;
  }
}

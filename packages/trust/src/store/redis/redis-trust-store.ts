import { silentLogger } from "@rockbot/bus";
import { StoreFullError } from "@rockbot/records";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
} from "@rockbot/records/redis";
import { recordOf, textOf } from "../record-text.ts";
import { MAX_RECORDS, noRoomFor, type TrustRecord, type TrustRoom, type TrustStore } from "../trust-store.ts";
import { commands } from "./commands.ts";

/**
 * Records in Redis, shared by all bridges that use it, and by the operator's command. They have no time to live: in a
 * Redis that throws keys away when it is full, keep it from these.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisTrustStore(url: RedisUrl, options: RedisStoreOptions = {}): Promise<TrustStore> {
  return connectStore(new RedisTrustStore(parseRedisAddress(url), options), options);
}

class RedisTrustStore implements TrustStore {
  readonly where = "Redis";
  readonly #connection: RedisConnection<typeof commands>;
  readonly #records: string;
  readonly #revision: string;
  readonly #room: RedisRoom<typeof commands>;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#records = `${prefix}:{mcp}:records`;
    this.#revision = `${prefix}:{mcp}:revision`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "mcp-trust",
      whileAway: "approvals of MCP servers stay as this process has read them, and other servers offer nothing",
      scripts: commands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async read(name: string): Promise<TrustRecord> {
    const text = await this.#connection.run("read what is approved of MCP servers", (redis) =>
      redis.hget(this.#records, name),
    );
    return recordOf(name, (text as string | null) ?? undefined);
  }

  async write(name: string, value: unknown, version: string | undefined): Promise<boolean> {
    const text = value === undefined ? "" : textOf(name, value);
    if (version === undefined && text !== "" && !(await this.#room.take(Buffer.byteLength(text))))
      throw new StoreFullError(
        `Cannot write the record "${name}": Redis reserves the rest of its memory for more important records`,
      );
    const written = await this.#connection.run("write what is approved of MCP servers", (redis) =>
      redis.replaceTrustRecord(this.#records, this.#revision, name, version ?? "", text, MAX_RECORDS),
    );
    if (written === -1) throw noRoomFor(name);
    return written === 1;
  }

  async names(): Promise<readonly string[]> {
    const names = await this.#connection.run("list what is approved of MCP servers", (redis) =>
      redis.hkeys(this.#records),
    );
    return (names as string[]).sort();
  }

  async room(): Promise<TrustRoom> {
    const { most } = await this.#room.share("trust");
    const answer = (await this.#connection.run("size what is approved of MCP servers", (redis) =>
      redis.sizeTrustRecords(this.#records),
    )) as unknown[];
    const sizes = new Map<string, number>();
    for (let at = 0; at < answer.length; at += 2) sizes.set(String(answer[at]), Number(answer[at + 1]));
    return { sizes, mostPerAgent: most };
  }

  async revision(): Promise<string> {
    return String(
      await this.#connection.run("look whether approvals have changed", (redis) => redis.get(this.#revision)),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close();
  }
}

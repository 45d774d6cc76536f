import { silentLogger } from "@rockbot/bus";
import {
  connectStore,
  leaseCommands,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  type RedisStoreOptions,
  type RedisUrl,
} from "../../redis/index.ts";
import { type LeaseClaim, type LeaseHolder, type LeaseNote, type LeaseStore, MAX_NOTE_LENGTH } from "../lease-store.ts";

const NOTE_KEPT_MS = 24 * 3600 * 1000;

const commands = {
  ...leaseCommands,
  /** KEYS: lease, note. ARGV: owner, text. */
  leaveNote: {
    numberOfKeys: 2,
    lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ${NOTE_KEPT_MS})
return 1`,
  },
  /** KEYS: note. ARGV: tag that is known, with its dot. */
  readNote: {
    numberOfKeys: 1,
    lua: `
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) == ARGV[1] then return false end
return redis.call('GET', KEYS[1])`,
  },
} as const;

/**
 * Leases in Redis 7.0 or later. Each operation is one round trip, and ends within 500 ms. A Redis that cannot be
 * reached is no error here: operations fail until it can be, now as later.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisLeaseStore(url: RedisUrl, options: RedisStoreOptions = {}): Promise<LeaseStore> {
  return connectStore(new RedisLeaseStore(parseRedisAddress(url), options), options);
}

class RedisLeaseStore implements LeaseStore {
  readonly #connection: RedisConnection<typeof commands>;
  /** The braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#prefix = `${prefix}:{leases}`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "leases",
      whileAway: "what needs a lease pauses",
      scripts: commands,
    });
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async hold(name: string, { owner, leaseMs }: LeaseClaim): Promise<LeaseHolder> {
    const held = await this.#connection.run("hold a lease", (redis) =>
      redis.holdLease(this.#key("lease", name), this.#key("fence", name), owner, leaseMs),
    );
    const [holder, fence] = held as [string, string];
    return { owner: holder, fence: Number(fence) };
  }

  async release(name: string, owner: string): Promise<void> {
    await this.#connection.run("release a lease", (redis) => redis.releaseLease(this.#key("lease", name), owner));
  }

  async leaveNote(name: string, owner: string, { tag, text }: LeaseNote): Promise<void> {
    if (text.length > MAX_NOTE_LENGTH)
      throw new RangeError(`Cannot leave a note of ${text.length} characters: it may have ${MAX_NOTE_LENGTH}`);
    await this.#connection.run("leave a note", (redis) =>
      redis.leaveNote(this.#key("lease", name), this.#key("note", name), owner, `${tag}.${text}`),
    );
  }

  async readNote(name: string, knownTag = ""): Promise<LeaseNote | undefined> {
    const found = await this.#connection.run("read a note", (redis) =>
      redis.readNote(this.#key("note", name), `${knownTag}.`),
    );
    if (typeof found !== "string") return undefined;
    const end = found.indexOf(".");
    return { tag: found.slice(0, end), text: found.slice(end + 1) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  #key(kind: "lease" | "fence" | "note", name: string): string {
    return `${this.#prefix}:${kind}:${name}`;
  }
}

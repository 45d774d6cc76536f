import { randomBytes } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
} from "../../redis/index.ts";
import {
  BlobError,
  type BlobStore,
  blobDamaged,
  blobMissing,
  blobsFull,
  checkBlobLength,
  DEFAULT_BLOB_LIMITS,
  FETCHED_MS,
  MAX_BLOB_BYTES,
  MAX_BLOB_TTL_MS,
  type PutBlobOptions,
} from "../blob-store.ts";
import { commands } from "./commands.ts";

/** How a blob store in Redis is connected, and how much each caller may have there. */
export interface RedisBlobStoreOptions extends RedisStoreOptions {
  /** The bound of one owner in bytes, and not more than its share of Redis. @default 268_435_456 */
  readonly maxBytesPerOwner?: number | undefined;
}

/** So much goes in one command: an answer must be there within 500 ms. */
const PIECE_BYTES = 512 * 1024;
/** A part that no blob came of, as its process has ended, goes after this time. */
const PART_MS = 60_000;

/**
 * Blobs in Redis 7.0 or later. Each command has its answer within 500 ms, or fails; a blob is moved in pieces. A Redis
 * that cannot be reached is no error here: operations fail until it can be.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisBlobStore(url: RedisUrl, options: RedisBlobStoreOptions = {}): Promise<BlobStore> {
  return connectStore(new RedisBlobStore(parseRedisAddress(url), options), options);
}

class RedisBlobStore implements BlobStore {
  readonly #connection: RedisConnection<typeof commands>;
  /** The braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;
  readonly #maxBytes: number;
  readonly #room: RedisRoom<typeof commands>;

  constructor(
    address: RedisAddress,
    {
      log = silentLogger,
      prefix = "rockbot",
      ca,
      maxBytesPerOwner = DEFAULT_BLOB_LIMITS.maxBytesPerOwner,
    }: RedisBlobStoreOptions,
  ) {
    this.#prefix = `${prefix}:{blobs}`;
    this.#maxBytes = maxBytesPerOwner;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "blobs",
      whileAway: "large results cross the bus themselves, up to 8 MiB",
      scripts: commands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async put(name: string, bytes: Uint8Array, { owner, ttlMs: wantedMs }: PutBlobOptions): Promise<void> {
    const length = bytes.byteLength;
    checkBlobLength(length);
    if (!(await this.#room.take(length)))
      throw new BlobError(
        "full",
        `Cannot keep a result of ${length} bytes: Redis reserves the rest of its memory for more important records`,
      );
    const ttlMs = Math.ceil(Math.min(Math.max(1, wantedMs), MAX_BLOB_TTL_MS));
    const owned = `${this.#prefix}:owned:${encodeURIComponent(owner)}`;
    const { most } = await this.#room.share("blobs");
    const maxBytes = Math.min(this.#maxBytes, Math.max(most, MAX_BLOB_BYTES));
    const names = [this.#key("owner", name), this.#key("blob", name), name] as const;
    const begin = [this.#key("owner", ""), this.#key("blob", "")] as const;
    const reserved = await this.#connection.run("make room for a result", (redis) =>
      redis.reserveBlob(owned, ...names, length, ttlMs, maxBytes, MAX_BLOB_TTL_MS, ...begin, FETCHED_MS / 1_000),
    );
    if (reserved === 0) throw blobsFull(length, maxBytes);
    if (reserved === 2) return;
    const part = this.#key("part", randomBytes(8).toString("hex"));
    try {
      for (let at = 0; at === 0 || at < length; at += PIECE_BYTES) {
        const piece = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(PIECE_BYTES, length - at));
        await this.#connection.run("keep a result", (redis) =>
          at === 0 ? redis.set(part, piece, "PX", PART_MS) : redis.append(part, piece),
        );
      }
      await this.#connection.run("keep a result", (redis) => redis.commitBlob(part, this.#key("blob", name), ttlMs));
    } catch (error) {
      await this.#connection.run("give up a result", (redis) => redis.unlink(part)).catch(() => {}); // it expires, as does its place
      throw error;
    }
  }

  async get(name: string, length: number): Promise<Uint8Array> {
    const key = this.#key("blob", name);
    const found = Number(await this.#connection.run("read a result", (redis) => redis.strlen(key)));
    if (found === 0) throw blobMissing();
    if (found !== length) throw blobDamaged();
    const pieces: Buffer[] = [];
    for (let at = 0; at < length; at += PIECE_BYTES) {
      const piece = (await this.#connection.run("read a result", (redis) =>
        redis.getrangeBuffer(key, at, at + PIECE_BYTES - 1),
      )) as Buffer;
      if (piece.length === 0) throw blobMissing();
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  async delete(name: string): Promise<void> {
    await this.#connection.run("delete a result", (redis) =>
      redis.deleteBlob(this.#key("blob", name), this.#key("owner", name)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  #key(kind: "blob" | "owner" | "part", name: string): string {
    return `${this.#prefix}:${kind}:${name}`;
  }
}

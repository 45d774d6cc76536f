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
  type BlobKind,
  type BlobStore,
  blobDamaged,
  blobMissing,
  blobsFull,
  checkBlobLength,
  MAX_BLOB_BYTES,
  type PutBlobOptions,
  RESULTS,
} from "../blob-store.ts";
import { commands } from "./commands.ts";

/** How a blob store in Redis is connected, and how much each caller may have there. */
export interface RedisBlobStoreOptions extends RedisStoreOptions {
  /** @default results */
  readonly kind?: BlobKind | undefined;
  /** The bound of one owner in bytes, and not more than its share of Redis. @default that of the kind */
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
  readonly #prefix: string;
  readonly #kind: BlobKind;
  readonly #maxBytes: number;
  readonly #room: RedisRoom<typeof commands>;

  constructor(
    address: RedisAddress,
    {
      log = silentLogger,
      prefix = "rockbot",
      ca,
      kind = RESULTS,
      maxBytesPerOwner = kind.maxBytesPerOwner,
    }: RedisBlobStoreOptions,
  ) {
    this.#kind = kind;
    this.#prefix = `${prefix}:${kind.keys}`;
    this.#maxBytes = maxBytesPerOwner;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: kind.name,
      whileAway: kind.whileAway,
      scripts: commands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async put(name: string, bytes: Uint8Array, { owner, ttlMs: wantedMs }: PutBlobOptions): Promise<void> {
    const kind = this.#kind;
    const length = bytes.byteLength;
    checkBlobLength(length, kind);
    if (!(await this.#room.take(length)))
      throw new BlobError(
        "full",
        `Cannot keep ${kind.one} of ${length} bytes: Redis reserves the rest of its memory for more important records`,
      );
    const ttlMs = Math.ceil(Math.min(Math.max(1, wantedMs), kind.maxTtlMs));
    const owned = `${this.#prefix}:owned:${encodeURIComponent(owner)}`;
    const { most } = await this.#room.share(kind.name);
    const maxBytes = Math.min(this.#maxBytes, Math.max(most, MAX_BLOB_BYTES));
    const names = [this.#key("owner", name), this.#key("blob", name), name] as const;
    const begin = [this.#key("owner", ""), this.#key("blob", "")] as const;
    const counted = Math.max(length, kind.countsAtLeast);
    const idleSeconds = Math.floor(kind.idleMs / 1_000);
    const reserved = await this.#connection.run(`make room for ${kind.one}`, (redis) =>
      redis.reserveBlob(owned, ...names, counted, ttlMs, maxBytes, kind.maxTtlMs, ...begin, idleSeconds),
    );
    if (reserved === 0) throw blobsFull(length, maxBytes, kind);
    if (reserved === 2) return;
    const part = this.#key("part", randomBytes(8).toString("hex"));
    try {
      for (let at = 0; at === 0 || at < length; at += PIECE_BYTES) {
        const piece = Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(PIECE_BYTES, length - at));
        await this.#connection.run(`keep ${kind.one}`, (redis) =>
          at === 0 ? redis.set(part, piece, "PX", PART_MS) : redis.append(part, piece),
        );
      }
      const kept = await this.#connection.run(`keep ${kind.one}`, (redis) =>
        redis.commitBlob(part, this.#key("blob", name), this.#key("owner", name), ttlMs),
      );
      if (kept === 0) throw blobsFull(length, maxBytes, kind);
    } catch (error) {
      await this.#connection.run(`give up ${kind.one}`, (redis) => redis.unlink(part)).catch(() => {}); // it expires, as does its place
      throw error;
    }
  }

  async get(name: string, length: number): Promise<Uint8Array> {
    const key = this.#key("blob", name);
    const found = Number(await this.#connection.run(`read ${this.#kind.one}`, (redis) => redis.strlen(key)));
    if (found === 0) throw blobMissing();
    if (found !== length) throw blobDamaged();
    const pieces: Buffer[] = [];
    for (let at = 0; at < length; at += PIECE_BYTES) {
      const piece = (await this.#connection.run(`read ${this.#kind.one}`, (redis) =>
        redis.getrangeBuffer(key, at, at + PIECE_BYTES - 1),
      )) as Buffer;
      if (piece.length === 0) throw blobMissing();
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  async delete(name: string): Promise<void> {
    await this.#connection.run(`delete ${this.#kind.one}`, (redis) =>
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

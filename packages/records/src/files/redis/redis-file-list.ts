import { hash } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import { FILE_PIECES } from "../../blobs/blob-store.ts";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  type RedisStoreOptions,
  type RedisUrl,
} from "../../redis/index.ts";
import { type FileList, type ListedFile, newestFirst } from "../file-list.ts";

/**
 * The list in Redis 7.0 or later. It adds by commands that only write, so that a service's user need not read it.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisFileList(url: RedisUrl, options: RedisStoreOptions = {}): Promise<FileList> {
  return connectStore(new RedisFileList(parseRedisAddress(url), options), options);
}

class RedisFileList implements FileList {
  readonly #connection: RedisConnection<Record<never, never>>;
  readonly #prefix: string;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#prefix = `${prefix}:{files}:lists`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "lists of files",
      whileAway: "files can be neither kept nor read",
      scripts: {},
    });
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async add(owner: string, file: ListedFile): Promise<void> {
    const ttlMs = Math.max(1, Math.ceil(file.expiresAt - Date.now()));
    const list = this.#listOf(owner);
    await this.#connection.run("note a file", (redis) =>
      Promise.all([
        redis.set(this.#fileOf(owner, file.handle), JSON.stringify(file), "PX", ttlMs),
        redis.zremrangebyscore(list, "-inf", Date.now()),
        redis.zadd(list, file.expiresAt, file.handle),
        redis.pexpire(list, FILE_PIECES.maxTtlMs),
      ]),
    );
  }

  async find(owner: string, handle: string): Promise<ListedFile | undefined> {
    const found = await this.#connection.run("find a file", (redis) => redis.get(this.#fileOf(owner, handle)));
    return read(found);
  }

  async list(owner: string): Promise<readonly ListedFile[]> {
    const handles = (await this.#connection.run("list files", (redis) =>
      redis.zrangebyscore(this.#listOf(owner), Date.now(), "+inf"),
    )) as string[];
    if (handles.length === 0) return [];
    const keys = handles.map((handle) => this.#fileOf(owner, handle));
    const found = (await this.#connection.run("list files", (redis) => redis.mget(keys))) as (string | null)[];
    return newestFirst(found.flatMap((text) => read(text) ?? []));
  }

  async remove(owner: string, handle: string): Promise<void> {
    await this.#connection.run("forget a file", (redis) =>
      Promise.all([redis.zrem(this.#listOf(owner), handle), redis.unlink(this.#fileOf(owner, handle))]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  #listOf(owner: string): string {
    return `${this.#prefix}:of:${encodeURIComponent(owner)}`;
  }

  #fileOf(owner: string, handle: string): string {
    return `${this.#prefix}:file:${hash("sha256", JSON.stringify([owner, handle]), "hex")}`;
  }
}

const read = (text: unknown): ListedFile | undefined =>
  typeof text === "string" ? (JSON.parse(text) as ListedFile) : undefined;

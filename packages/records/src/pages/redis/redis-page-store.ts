import { silentLogger } from "@rockbot/bus";
import { MAX_KEPT_BYTES, MAX_KEPT_PAGES, type PageStore } from "@rockbot/edge/page-store";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
} from "../../redis/index.ts";
import { commands } from "./commands.ts";

/** How a store of pages in Redis is connected, and how much it keeps. */
export interface RedisPageStoreOptions extends RedisStoreOptions {
  /** The bound of all pages together, in bytes, and not more than their part of Redis. @default 33_554_432 */
  readonly maxBytes?: number | undefined;
}

/**
 * Pages in Redis, shared by all processes that use it. Each operation ends within 500 ms. While Redis is away
 * operations fail, and the pages are fetched.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisPageStore(
  url: RedisUrl,
  options: RedisPageStoreOptions = {},
): Promise<PageStore & AsyncDisposable> {
  return connectStore(new RedisPageStore(parseRedisAddress(url), options), options);
}

class RedisPageStore implements PageStore, AsyncDisposable {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #prefix: string;
  readonly #maxBytes: number;
  readonly #room: RedisRoom<typeof commands>;

  constructor(
    address: RedisAddress,
    { log = silentLogger, prefix = "rockbot", ca, maxBytes = 32 * 1024 ** 2 }: RedisPageStoreOptions,
  ) {
    this.#prefix = `${prefix}:{pages}`;
    this.#maxBytes = maxBytes;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "pages",
      whileAway: "every page is fetched anew",
      scripts: commands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    // One byte more than may be there tells an entry that another wrote.
    const page = (await this.#connection.run("read a page", (redis) =>
      redis.getrangeBuffer(this.#page(key), 0, MAX_KEPT_BYTES),
    )) as Buffer;
    return page.length === 0 || page.length > MAX_KEPT_BYTES ? undefined : page;
  }

  async set(key: string, bytes: Uint8Array, { ttlMs }: { readonly ttlMs: number }): Promise<void> {
    const length = bytes.byteLength;
    if (length > Math.min(MAX_KEPT_BYTES, this.#maxBytes) || !(await this.#room.take(length))) return;
    const maxBytes = Math.min(this.#maxBytes, this.#room.knownShare("pages").most);
    const page = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    await this.#connection.run("keep a page", (redis) =>
      redis.keepPage(
        `${this.#prefix}:index`,
        this.#page(key),
        key,
        page,
        Math.ceil(ttlMs),
        maxBytes,
        MAX_KEPT_PAGES,
        this.#page(""),
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  #page(key: string): string {
    return `${this.#prefix}:page:${key}`;
  }
}

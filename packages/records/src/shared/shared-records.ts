import type { Logger } from "@rockbot/bus";
import { type BlobStore, FILE_PIECES } from "../blobs/index.ts";
import type { ClaimStore } from "../claims/index.ts";
import type { FigureStore } from "../figures/index.ts";
import type { FileStore } from "../files/index.ts";
import type { JournalStore } from "../journal/index.ts";
import type { LeaseStore } from "../leases/index.ts";
import type { RateStore } from "../rates/index.ts";
import type { RedisUrl } from "../redis-address.ts";
import { orClientMissing } from "./redis-client-missing-error.ts";

/** Where processes keep what they share. */
export interface SharedRecordsOptions {
  /** Where Redis is; without it nothing is shared, and each process has its own. */
  readonly redisUrl: RedisUrl | undefined;
  /** True if Redis keeps acknowledged writes, so that claims survive its restart. @default false */
  readonly keepsAll?: boolean | undefined;
  readonly log: Logger;
}

/**
 * The records that processes share in Redis. Each store opens at its first use, and closes with this object. Without an
 * address every store is undefined, and the caller keeps its own. The client of Redis is loaded with the first store.
 * @throws {StoreUnavailableError} from each opening that Redis refuses: a wrong password, missing rights
 * @throws {RedisClientMissingError} from each opening where ioredis is not installed
 */
export class SharedRecords implements AsyncDisposable {
  readonly #options: SharedRecordsOptions;
  readonly #stack = new AsyncDisposableStack();
  readonly #seeking = new AbortController();
  readonly #opened = new Map<string, Promise<AsyncDisposable>>();

  constructor(options: SharedRecordsOptions) {
    this.#options = options;
  }

  /** Begins to ask whether Redis can be reached. @returns says whether it could since, if only once */
  seek(): () => boolean {
    const { redisUrl, log } = this.#options;
    const { signal } = this.#seeking;
    let isReached = redisUrl === undefined;
    const seek = async (): Promise<void> => {
      if (redisUrl !== undefined)
        isReached = await (await import("../redis/until-reached.ts")).untilReached(redisUrl, { log, signal });
    };
    seek().catch(() => {}); // each store that is opened says why
    return () => isReached;
  }

  /** The calls that were taken: see ClaimStore. */
  async claims(): Promise<ClaimStore | undefined> {
    return this.open("claims", async (...at) =>
      (await import("../claims/redis/index.ts")).connectRedisClaimStore(...at),
    );
  }

  /** The use that callers have made of their rates. */
  async rates(): Promise<RateStore | undefined> {
    return this.open("rates", async (...at) => (await import("../rates/redis/index.ts")).connectRedisRateStore(...at));
  }

  /** Results that are too large for the bus. */
  async blobs(): Promise<BlobStore | undefined> {
    return this.open("blobs", async (...at) => (await import("../blobs/redis/index.ts")).connectRedisBlobStore(...at));
  }

  /** Files of callers. What may be done with them follows from the rights of this process in Redis. */
  async files(): Promise<FileStore | undefined> {
    const pieces = await this.open("files", async (url, options) =>
      (await import("../blobs/redis/index.ts")).connectRedisBlobStore(url, { ...options, kind: FILE_PIECES }),
    );
    const list = await this.open("lists of files", async (...at) =>
      (await import("../files/redis/redis-file-list.ts")).connectRedisFileList(...at),
    );
    if (pieces === undefined || list === undefined) return undefined;
    return new (await import("../files/index.ts")).FileStore({ pieces, list });
  }

  /** Leases on work that one process at a time may do. */
  async leases(): Promise<LeaseStore | undefined> {
    return this.open("leases", async (...at) =>
      (await import("../leases/redis/index.ts")).connectRedisLeaseStore(...at),
    );
  }

  /** The calls that callers have made. */
  async journals(): Promise<JournalStore | undefined> {
    return this.open("journals", async (...at) =>
      (await import("../journal/redis/index.ts")).connectRedisJournalStore(...at),
    );
  }

  /** A day of each service's calls, for the gateways' charts. */
  async figures(): Promise<FigureStore | undefined> {
    return this.open("figures", async (...at) =>
      (await import("../figures/redis/index.ts")).connectRedisFigureStore(...at),
    );
  }

  /** A further store, of any caller, under a name of its own. */
  async open<Store extends AsyncDisposable>(
    name: string,
    connect: (url: RedisUrl, options: Pick<SharedRecordsOptions, "log" | "keepsAll">) => Promise<Store>,
  ): Promise<Store | undefined> {
    const { redisUrl, log, keepsAll } = this.#options;
    if (redisUrl === undefined) return undefined;
    const known = this.#opened.get(name);
    if (known !== undefined) return known as Promise<Store>;
    const opening = connect(redisUrl, { log, keepsAll }).then(
      (store) => this.#stack.use(store),
      (error: unknown) => {
        throw orClientMissing(error, name);
      },
    );
    this.#opened.set(name, opening);
    opening.catch(() => this.#opened.delete(name)); // who asks then tries anew
    return opening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#seeking.abort();
    await Promise.allSettled(this.#opened.values());
    await this.#stack.disposeAsync();
  }
}

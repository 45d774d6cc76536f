import type { RedisConnection, RedisScripts } from "./redis-connection.ts";

/**
 * Large texts take at most this part of Redis's maxmemory. The rest is for what is small and matters more: claims,
 * answers, journals, rates.
 */
const PART = 0.75;
/** The memory on which the shares are computed where Redis has no maxmemory, or does not tell it. */
const UNTOLD_BYTES = 1024 ** 3;
/** An answer of Redis about its memory counts for so long, together with what was written since. */
const FRESH_MS = 1_000;

/**
 * What one caller may have of each kind, as a part of maxmemory; and of pages, which are nobody's, what all have.
 * Together they are less than PART. So one caller that takes all it may leaves room for others.
 */
export const SHARES = {
  sessions: 3 / 16,
  memory: 3 / 16,
  blobs: 1 / 8,
  tasks: 1 / 16,
  files: 1 / 16,
  replays: 1 / 64,
  schedules: 1 / 64,
  trust: 1 / 64,
  pages: 1 / 16,
  /** These shares count only while PART is exceeded, and for each process. */
  claims: 1 / 32,
  answers: 1 / 64,
  /** What all have, of what PART leaves. */
  journals: 1 / 8,
} as const;

/** A caller's part of a kind, and by how much all together have too much, in bytes. */
export interface Share {
  readonly most: number;
  readonly over: number;
}

/** The room that a Redis has. One that is full refuses every write of everybody, as it must drop nothing. */
export class RedisRoom<Scripts extends RedisScripts> {
  readonly #connection: RedisConnection<Scripts>;
  #max = UNTOLD_BYTES;
  #left = Number.POSITIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(connection: RedisConnection<Scripts>) {
    this.#connection = connection;
  }

  /**
   * Tells whether there is room for so many bytes; then they count as written.
   * @throws {StoreUnavailableError} if Redis does not answer
   */
  async take(bytes: number): Promise<boolean> {
    await this.#fresh();
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  /**
   * How many bytes one caller may have of a kind, and how many all together have too many.
   * @throws {StoreUnavailableError} if Redis does not answer
   */
  async share(kind: keyof typeof SHARES): Promise<Share> {
    await this.#fresh();
    return this.knownShare(kind);
  }

  /**
   * The same by the last answer of Redis; another is asked for, and not waited for. The excess of all is reported once:
   * the caller that learns of it makes room.
   */
  knownShare(kind: keyof typeof SHARES): Share {
    if (!this.#isFresh) this.#fresh().catch(() => {}); // what is known stays
    const over = Math.ceil(Math.max(0, -this.#left));
    this.#left += over;
    return { most: this.#most(kind), over };
  }

  /**
   * Counts bytes that are written anyway, without waiting for Redis.
   * @returns the share of one caller while PART is exceeded, as far as is known
   */
  wrote(bytes: number, kind: keyof typeof SHARES): number {
    if (!this.#isFresh) this.#fresh().catch(() => {});
    this.#left -= bytes;
    return this.#left < 0 ? this.#most(kind) : Number.POSITIVE_INFINITY;
  }

  /** The share of a kind by the last answer of Redis; another is asked for, and not waited for. */
  most(kind: keyof typeof SHARES): number {
    if (!this.#isFresh) this.#fresh().catch(() => {}); // what is known stays
    return this.#most(kind);
  }

  #most(kind: keyof typeof SHARES): number {
    return Math.floor(this.#max * SHARES[kind]);
  }

  get #isFresh(): boolean {
    return performance.now() - this.#readAt <= FRESH_MS;
  }

  async #fresh(): Promise<void> {
    if (this.#isFresh) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const info = await this.#connection.run("ask for the room left", (redis) =>
      redis.info("memory").catch(nothingIfForbidden),
    );
    const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(String(info))?.[1] ?? 0);
    const most = number("maxmemory");
    this.#max = most || UNTOLD_BYTES;
    this.#left = most === 0 ? Number.POSITIVE_INFINITY : most * PART - number("used_memory");
    this.#readAt = performance.now();
  }
}

/** A user without that right does without the guard. */
function nothingIfForbidden(error: Error): string {
  if (error.message.startsWith("NOPERM")) return "";
  throw error;
}

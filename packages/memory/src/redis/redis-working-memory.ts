import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
} from "@rockbot/records/redis";
import { bytesOf, isNarrow, namespaceOf } from "../entry-record.ts";
import type { EntryRecords } from "../entry-records.ts";
import { MemoryChangedError } from "../memory-changed-error.ts";
import { type ExceededBound, memoryFullError } from "../memory-full-error.ts";
import { DEFAULT_LIMITS, MAX_TTL_MS, type MemoryLimits } from "../memory-limits.ts";
import { ownedMemory } from "../owned-memory.ts";
import type { MemoryEntryInfo, OwnedMemory, WorkingMemory } from "../working-memory.ts";
import { commands } from "./commands.ts";

/**
 * How working memory in Redis is connected, and its bounds. The limit of the whole process does not apply: Redis has its
 * maxmemory.
 */
export interface RedisWorkingMemoryOptions extends RedisStoreOptions {
  readonly limits?: Partial<Omit<MemoryLimits, "maxTotalBytes">> | undefined;
}

/** So much of a text goes in one command: an answer must be there within 500 ms. */
const PIECE_BYTES = 512 * 1024;
/** Texts of so many bytes together go with the command that keeps them; larger ones lie there before. */
const INLINE_BYTES = 128 * 1024;
/** A text that lies there and is not kept, as its process has ended, goes after this time. */
const STAGED_MS = 60_000;
/** The facts of an owner's entries outlive the last of them by an hour. */
const FACTS_KEPT_MS = MAX_TTL_MS + 3_600_000;
/** An entry that is overwritten while it is read is read anew, so often. */
const ATTEMPTS = 3;
const PAGE = 1_000;
/** Stands for the version of an entry that is not there. */
const NO_ENTRY = "-";

/**
 * Working memory in Redis 7.0 or later, shared by all processes that use it. A Redis that cannot be reached is no error
 * here. Operations fail with a StoreUnavailableError until it can be, within 500 ms for each command. Entries are there
 * again if Redis has kept them.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisWorkingMemory(
  url: RedisUrl,
  options: RedisWorkingMemoryOptions = {},
): Promise<WorkingMemory> {
  return connectStore(new RedisWorkingMemory(parseRedisAddress(url), options), options);
}

type Connection = RedisConnection<typeof commands>;

class RedisWorkingMemory implements WorkingMemory {
  readonly #connection: Connection;
  /** The braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;
  readonly #limits: MemoryLimits;
  readonly #room: RedisRoom<typeof commands>;

  constructor(
    address: RedisAddress,
    { log = silentLogger, prefix = "rockbot", ca, limits }: RedisWorkingMemoryOptions,
  ) {
    this.#prefix = `${prefix}:{memory}`;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "working memory",
      whileAway: "nothing is kept in working memory or read from it",
      scripts: commands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  of(owner: string): OwnedMemory {
    return ownedMemory(
      new RedisEntries(this.#connection, `${this.#prefix}:${encodeURIComponent(owner)}`, {
        limits: this.#limits,
        room: this.#room,
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }
}

/** The entries of one owner: their facts, and their texts under names of their own. */
class RedisEntries implements EntryRecords {
  readonly #connection: Connection;
  readonly #keys: readonly [string, string, string, string];
  readonly #textPrefix: string;
  readonly #limits: MemoryLimits;
  readonly #room: RedisRoom<typeof commands>;

  constructor(
    connection: Connection,
    prefix: string,
    { limits, room }: { readonly limits: MemoryLimits; readonly room: RedisRoom<typeof commands> },
  ) {
    this.#connection = connection;
    this.#keys = [`${prefix}:facts`, `${prefix}:keys`, `${prefix}:ends`, `${prefix}:counts`];
    this.#textPrefix = `${prefix}:text:`;
    this.#limits = limits;
    this.#room = room;
  }

  async put(entries: Parameters<EntryRecords["put"]>[0]): Promise<void> {
    const texts = entries.map(({ info, value, ifVersion }) => {
      const isNarrowText = isNarrow(value);
      const before = ifVersion === undefined ? "" : (ifVersion ?? NO_ENTRY);
      return {
        info,
        isNarrowText,
        name: info.version,
        before,
        bytes: Buffer.from(value, isNarrowText ? "latin1" : "utf16le"),
      };
    });
    const total = texts.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const isStaged = total > INLINE_BYTES;
    if (!(await this.#room.take(total))) {
      const keys = entries.map(({ info }) => info.key);
      throw memoryFullError(keys, "", { kind: "store", max: 0, nextEndMs: undefined });
    }
    try {
      if (isStaged) await this.#stage(texts);
      const { maxEntries, maxChunks } = this.#limits;
      const { most } = this.#room.knownShare("memory");
      const maxBytes = Math.min(this.#limits.maxBytes, most);
      const values = texts.flatMap(({ info, isNarrowText, name, before, bytes }) => [
        info.key,
        info.expiresAt - info.storedAt,
        bytesOf(info, isNarrowText),
        info.isChunk ? "c" : "e",
        isNarrowText ? 1 : 2,
        name,
        furtherFacts(info),
        before,
        isStaged ? "" : bytes,
      ]);
      const answer = await this.#connection.run("keep in working memory", (redis) =>
        redis.putMemory(...this.#keys, this.#textPrefix, maxEntries, maxChunks, maxBytes, FACTS_KEPT_MS, ...values),
      );
      if (answer !== "") throw this.#refusal(entries, answer as [string, string, string], maxBytes);
    } catch (error) {
      if (isStaged) await this.#unstage(texts.map(({ name }) => name));
      throw error;
    }
  }

  async load(
    key: string,
    offset: number,
    length: number,
  ): Promise<{ info: MemoryEntryInfo; text: string } | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const first = await this.#connection.run("read from working memory", (redis) =>
        redis.loadMemoryBuffer(this.#keys[0], this.#textPrefix, key, offset, Math.min(length, PIECE_BYTES / 2)),
      );
      if (first === null) return undefined;
      const [now, facts, piece] = first as [Buffer, Buffer, Buffer];
      const { info, width, name } = readFacts(key, facts.toString(), Number(now));
      const wanted = Math.max(0, Math.min(length, info.length - offset)) * width;
      const pieces = [piece];
      for (let got = piece.length; got < wanted; ) {
        const from = offset * width + got;
        const next = await this.#piece(name, from, from + Math.min(wanted - got, PIECE_BYTES) - 1);
        if (next.length === 0) break; // overwritten, deleted or expired meanwhile
        pieces.push(next);
        got += next.length;
      }
      const bytes = Buffer.concat(pieces);
      if (bytes.length === wanted) return { info, text: bytes.toString(width === 1 ? "latin1" : "utf16le") };
    }
    throw new StoreUnavailableError(
      `Cannot read "${key}" from working memory: it was overwritten during each of ${ATTEMPTS} attempts`,
    );
  }

  async delete(key: string): Promise<boolean> {
    return (
      (await this.#connection.run("delete from working memory", (redis) =>
        redis.deleteMemory(...this.#keys, this.#textPrefix, key),
      )) === 1
    );
  }

  async list(prefix: string): Promise<readonly MemoryEntryInfo[]> {
    const found: MemoryEntryInfo[] = [];
    const first = prefix === "" ? "-" : `[${prefix}`;
    const end = prefix === "" ? "+" : Buffer.concat([Buffer.from(`(${prefix}`), Buffer.from([0xff])]);
    for (let at = 0; ; at += PAGE) {
      const page = await this.#connection.run("list working memory", (redis) =>
        redis.listMemory(...this.#keys, first, end, at, PAGE),
      );
      const [now, ...rest] = page as [string, ...string[]];
      for (let i = 0; i + 1 < rest.length; i += 2) {
        const [key = "", facts = ""] = rest.slice(i, i + 2);
        const { info } = readFacts(key, facts, Number(now));
        if (info.expiresAt > Date.now()) found.push(info);
      }
      if (rest.length < 2 * PAGE) return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    }
  }

  async #piece(name: string, from: number, to: number): Promise<Buffer> {
    return (await this.#connection.run("read from working memory", (redis) =>
      redis.getrangeBuffer(this.#textPrefix + name, from, to),
    )) as Buffer;
  }

  /** Lays texts down under their names, a piece at a time. */
  async #stage(texts: readonly { readonly name: string; readonly bytes: Buffer }[]): Promise<void> {
    let sent: Promise<unknown>[] = [];
    let sentBytes = 0;
    const flush = async (): Promise<void> => {
      await Promise.all(sent);
      [sent, sentBytes] = [[], 0];
    };
    for (const { name, bytes } of texts) {
      for (let at = 0; at === 0 || at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        if (sentBytes + piece.length > PIECE_BYTES) await flush();
        sentBytes += piece.length;
        const key = this.#textPrefix + name;
        sent.push(
          this.#connection.run("keep in working memory", (redis) =>
            at === 0 ? redis.set(key, piece, "PX", STAGED_MS) : redis.append(key, piece),
          ),
        );
      }
    }
    await flush();
  }

  async #unstage(names: readonly string[]): Promise<void> {
    await this.#connection
      .run("give up texts", (redis) => redis.unlink(...names.map((name) => this.#textPrefix + name)))
      .catch(() => {}); // they expire
  }

  #refusal(
    entries: Parameters<EntryRecords["put"]>[0],
    [kind, subject, detail]: [string, string, string],
    maxBytes: number,
  ): Error {
    if (kind === "v") return new MemoryChangedError(subject, detail === NO_ENTRY ? undefined : detail);
    const { maxEntries, maxChunks } = this.#limits;
    const bounds: Record<string, Pick<ExceededBound, "kind" | "max">> = {
      e: { kind: "entries", max: maxEntries },
      c: { kind: "chunks", max: maxChunks },
      b: { kind: "bytes", max: maxBytes },
    };
    const keys = entries.map(({ info }) => info.key);
    const bound = bounds[kind] ?? { kind: "bytes", max: maxBytes };
    return memoryFullError(keys, subject || namespaceOf(keys[0] ?? ""), {
      ...bound,
      nextEndMs: detail === "" ? undefined : Number(detail),
    });
  }
}

type FurtherFacts = Omit<MemoryEntryInfo, "key" | "version" | "storedAt" | "expiresAt" | "isChunk">;

function furtherFacts({ length, category, tags, isUntrusted, isApproved, origin }: MemoryEntryInfo): string {
  return JSON.stringify({ length, category, tags, isUntrusted, isApproved, origin } satisfies Record<
    keyof FurtherFacts,
    unknown
  >);
}

/** Reads the facts of an entry. Times are by the clock of Redis, and become ones of this process. */
function readFacts(
  key: string,
  text: string,
  now: number,
): { readonly info: MemoryEntryInfo; readonly width: 1 | 2; readonly name: string } {
  const match = /^(\d+):(\d+):\d+:([ec]):([12]):([0-9a-f]+):(.*)$/s.exec(text);
  if (match === null)
    throw new StoreUnavailableError(`Cannot read "${key}" from working memory: its facts are not those of an entry`);
  const [, storedAt, expiresAt, kind, width, name = "", further = "{}"] = match;
  const skew = Date.now() - now;
  return {
    info: {
      key,
      version: name,
      storedAt: Number(storedAt) + skew,
      expiresAt: Number(expiresAt) + skew,
      isChunk: kind === "c",
      ...(JSON.parse(further) as FurtherFacts),
    },
    width: width === "1" ? 1 : 2,
    name,
  };
}

import { silentLogger } from "@rockbot/bus";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
  WrittenBytes,
} from "../../redis/index.ts";
import { StoreUnavailableError } from "../../store-unavailable-error.ts";
import {
  ANSWER_KEPT_MS,
  type CallRecord,
  CallState,
  isOpen,
  MAX_ALL_BYTES,
  MAX_ALL_CALLS,
  MAX_CALLS,
  shownRecord,
  stays,
} from "../call-record.ts";
import { type JournalStore, MAX_SLOTS, type SlotClaim, type WriteAnswerOptions } from "../journal-store.ts";
import type { KeptTexts } from "../kept-texts.ts";
import {
  type CallPage,
  type CallPlace,
  type CallSearch,
  keyOf,
  mergePages,
  ownerOf,
  pageOf,
  startOf,
} from "../search-calls.ts";
import { commands } from "./commands.ts";
import { findCalls } from "./find-calls.ts";

/** Bounds of all journals together. Beyond them the effective caller that has most loses its oldest calls. */
export interface JournalLimits {
  /** @default MAX_ALL_CALLS */
  readonly calls?: number | undefined;
  /** @default MAX_ALL_BYTES, or their part of the maxmemory of Redis, if that is less */
  readonly bytes?: number | undefined;
  /** The most calls of one effective caller. @default MAX_CALLS */
  readonly ownCalls?: number | undefined;
}

/**
 * Journals and slots in Redis 7.0 or later. Each operation is one round trip, and ends within 500 ms. A Redis that
 * cannot be reached is no error here: operations fail until it can be, now as later.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisJournalStore(
  url: RedisUrl,
  options: RedisStoreOptions & { readonly limits?: JournalLimits | undefined } = {},
): Promise<JournalStore> {
  return connectStore(new RedisJournalStore(parseRedisAddress(url), options), options);
}

class RedisJournalStore implements JournalStore {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #room: RedisRoom<typeof commands>;
  readonly #answers = new WrittenBytes(ANSWER_KEPT_MS);
  /** The common part of names; the braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;
  readonly #limits: JournalLimits;

  constructor(
    address: RedisAddress,
    {
      log = silentLogger,
      prefix = "rockbot",
      ca,
      limits = {},
    }: Parameters<typeof connectRedisJournalStore>[1] & object,
  ) {
    this.#limits = limits;
    this.#prefix = `${prefix}:{journal}`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "journal",
      whileAway: "only this process remembers its calls",
      scripts: commands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async write(caller: string, records: readonly CallRecord[], texts?: ReadonlyMap<string, KeptTexts>): Promise<void> {
    const { records: all, order, open, ahead } = this.#names(caller);
    const { calls = MAX_ALL_CALLS, bytes = Math.min(MAX_ALL_BYTES, this.#room.most("journals")) } = this.#limits;
    const limits = [calls, bytes, this.#limits.ownCalls ?? MAX_CALLS];
    const now = Date.now();
    const lists = records.flatMap((record) => [
      record.toolCallId,
      keyOf(record),
      encodeURIComponent(ownerOf(record)),
      startOf(record),
      isOpen(record) ? 1 : 0,
      JSON.stringify(record),
      record.parent ?? "",
      record.state === CallState.Answered ? "" : (record.request ?? ""),
      ...keptArguments(texts?.get(record.toolCallId), now),
    ]);
    const index = ["index", "ids", "sizes", "total", "kept"].map((name) => `${this.#prefix}:${name}`);
    await this.#connection.run("note calls", (redis) =>
      redis.writeCalls(
        all,
        order,
        open,
        this.#callers,
        ...index,
        ahead,
        now,
        this.#prefix,
        caller,
        ...limits,
        ...lists,
      ),
    );
  }

  async noteAhead(caller: string, records: readonly CallRecord[]): Promise<void> {
    const lists = records.flatMap((record) => [record.toolCallId, JSON.stringify(record)]);
    await this.#connection.run("note calls ahead", (redis) =>
      redis.noteCallsAhead(this.#names(caller).ahead, this.#callers, Date.now(), caller, ...lists),
    );
  }

  async search(search: CallSearch): Promise<CallPage> {
    const { parents } = search;
    const places = parents?.map((parent) => [`inner:${parent}`, { ...search, parents: [parent] }] as const);
    const ahead = await this.#searchAhead(search); // first: what moves to the index meanwhile is found twice, and shown once
    const pages = (places ?? [["index", search] as const]).map(([order, its]) =>
      this.#searchIn(`${this.#prefix}:${order}`, its),
    );
    return mergePages([...(await Promise.all(pages)), ahead], search.limit);
  }

  /** The calls that have only been noted ahead: their callers made them a moment ago, or died then. */
  async #searchAhead(search: CallSearch): Promise<CallPage> {
    const texts = await this.#connection.run("search calls", (redis) =>
      redis.readCallsAhead(this.#callers, this.#prefix),
    );
    return pageOf(toRecords(texts).map(shownRecord), search);
  }

  async #searchIn(order: string, search: CallSearch): Promise<CallPage> {
    const prefix = this.#prefix;
    const { id } = search;
    const { calls, next } = await findCalls(search, {
      byTime: async ({ at, key }: CallPlace, count, parts) => {
        const answer = await this.#connection.run("search calls", (redis) =>
          redis.findCalls(order, prefix, at === Infinity ? "+inf" : at, key, search.after ?? -1, count, ...parts),
        );
        const [looked, lastKey, lastAt, texts] = answer as [number, string, string, string[]];
        return { looked, last: { at: Number(lastAt), key: lastKey }, calls: toRecords(texts) };
      },
      byId: async (count) => {
        const texts = await this.#connection.run("search calls by their id", (redis) =>
          redis.findCallsById(`${prefix}:ids`, prefix, `[${id}`, Buffer.concat([Buffer.from(`[${id}`), LAST]), count),
        );
        return toRecords(texts);
      },
    });
    return { calls: calls.map(shownRecord), next };
  }

  async readOpen(caller: string): Promise<CallRecord[]> {
    const { records, open, ahead } = this.#names(caller);
    const found = await this.#connection.run("read open calls", (redis) => redis.readOpenCalls(records, open, ahead));
    const [opened, noted, kept] = found as [string[], string[], string[]];
    const latest = new Map(toRecords(opened).map((record) => [record.toolCallId, record]));
    for (const [at, text] of noted.entries()) {
      const record = laterOf(text, kept[at]);
      if (record !== undefined && isOpen(record)) latest.set(record.toolCallId, record);
    }
    return [...latest.values()];
  }

  async readRecent(caller: string, limit: number): Promise<CallRecord[]> {
    const { records, order } = this.#names(caller);
    return toRecords(
      await this.#connection.run("read calls", (redis) => redis.readRecentCalls(records, order, limit)),
    ).map(withoutSecrets);
  }

  async read(caller: string, toolCallId: string): Promise<CallRecord | undefined> {
    const { records, ahead } = this.#names(caller);
    const [kept, noted] = await Promise.all(
      [records, ahead].map((key) => this.#connection.run("read a call", (redis) => redis.hget(key, toolCallId))),
    );
    const record = laterOf(noted as string | null, kept as string | null);
    return record === undefined ? undefined : withoutSecrets(record);
  }

  async readKept(caller: string, toolCallId: string): Promise<KeptTexts | undefined> {
    const found = await this.#connection.run("read the texts of a call", (redis) =>
      redis.get(`${this.#prefix}:kept:${caller}:${toolCallId}`),
    );
    return found === null ? undefined : (JSON.parse(found as string) as KeptTexts);
  }

  async readCallers(): Promise<string[]> {
    return (
      (await this.#connection.run("read callers", (redis) => redis.zrange(this.#callers, "0", "-1"))) as string[]
    ).sort();
  }

  async writeAnswer(
    caller: string,
    toolCallId: string,
    answer: Uint8Array,
    { isFirst = false, onBehalfOf = caller }: WriteAnswerOptions = {},
  ): Promise<void> {
    // While Redis has little room, a caller's further answers are with this process alone.
    if (this.#answers.of(onBehalfOf) + answer.byteLength > this.#room.wrote(answer.byteLength, "answers")) return;
    this.#answers.add(onBehalfOf, answer.byteLength);
    const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
    await this.#connection.run("keep an answer", (redis) => {
      const key = this.#answer(caller, toolCallId);
      return isFirst ? redis.set(key, bytes, "PX", ANSWER_KEPT_MS, "NX") : redis.set(key, bytes, "PX", ANSWER_KEPT_MS);
    });
  }

  async readAnswer(caller: string, toolCallId: string): Promise<Uint8Array | undefined> {
    const found = await this.#connection.run("read an answer", (redis) =>
      redis.getBuffer(this.#answer(caller, toolCallId)),
    );
    return (found as Buffer | null) ?? undefined;
  }

  async readSlots(agent: string): Promise<number[]> {
    const leases = (await this.#connection.run("read slots", async (redis) => {
      const pipeline = redis.pipeline();
      for (let slot = 0; slot < MAX_SLOTS; slot++) pipeline.pttl(this.#slot(agent, slot));
      return pipeline.exec();
    })) as [Error | null, number][];
    return leases.map(([error, leftMs]) => {
      if (error !== null) throw new StoreUnavailableError(`Cannot read slots: Redis refuses (${error.message})`);
      return Math.max(0, leftMs);
    });
  }

  async holdSlot(agent: string, slot: number, { owner, leaseMs }: SlotClaim): Promise<boolean> {
    const held = await this.#connection.run("hold a slot", (redis) =>
      redis.holdLease(this.#slot(agent, slot), this.#fence(agent, slot), owner, leaseMs),
    );
    return (held as [owner: string, fence: string])[0] === owner;
  }

  async releaseSlot(agent: string, slot: number, owner: string): Promise<void> {
    await this.#connection.run("release a slot", (redis) => redis.releaseLease(this.#slot(agent, slot), owner));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  get #callers(): string {
    return `${this.#prefix}:callers`;
  }

  #names(caller: string) {
    return {
      records: `${this.#prefix}:calls:${caller}`,
      order: `${this.#prefix}:order:${caller}`,
      open: `${this.#prefix}:open:${caller}`,
      ahead: `${this.#prefix}:ahead:${caller}`,
    };
  }

  #answer(caller: string, toolCallId: string): string {
    return `${this.#prefix}:answer:${caller}:${toolCallId}`;
  }

  #slot(agent: string, slot: number): string {
    return `${this.#prefix}:slot:${agent}:${slot}`;
  }

  #fence(agent: string, slot: number): string {
    return `${this.#prefix}:fence:${agent}:${slot}`;
  }
}

/** The text that is to be kept, and for how many milliseconds. */
const keptArguments = (texts: KeptTexts | undefined, now: number): readonly [string, number] =>
  texts === undefined || texts.until <= now ? ["", 0] : [JSON.stringify(texts), Math.ceil(texts.until - now)];

/** Comes after every text. */
const LAST = Buffer.from([0xff]);

/** What stands of a call: what was noted ahead of a later attempt, or the kept record. */
function laterOf(noted: string | null, kept: string | null | undefined): CallRecord | undefined {
  const [ahead, record] = [noted, kept].map((text) => (text ? (JSON.parse(text) as CallRecord) : undefined));
  if (ahead === undefined || record === undefined) return ahead ?? record;
  const isLater = ahead.attempts > record.attempts || startOf(ahead) > startOf(record);
  return isLater && !stays(record, ahead) ? ahead : record;
}

const withoutSecrets = ({ blob: _blob, sent: _sent, ...record }: CallRecord): CallRecord => record;
const toRecords = (texts: unknown): CallRecord[] => (texts as string[]).map((text) => JSON.parse(text) as CallRecord);

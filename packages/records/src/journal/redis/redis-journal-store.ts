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
import { type CallPage, type CallSearch, ownerOf, startOf } from "../search-calls.ts";
import { commands } from "./commands.ts";
import { findCalls, latestOf, type Segment, type SegmentSearch } from "./find-calls.ts";
import { SEGMENTS } from "./segments.ts";
import { Has } from "./write-calls.ts";

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

/** The first write after each such time forgets what has ended. */
const SWEEP_MS = 1_000;
/** A script cannot name many more at once. */
const MAX_SEGMENT_CALLS = 1_000;
/** Calls of the release before that are taken over in one command. */
const MAX_TAKEN = 500;

class RedisJournalStore implements JournalStore {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #room: RedisRoom<typeof commands>;
  readonly #answers = new WrittenBytes(ANSWER_KEPT_MS);
  /** The common part of names; the braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;
  readonly #limits: JournalLimits;
  #sweptAt = Number.NEGATIVE_INFINITY;

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
    const { calls = MAX_ALL_CALLS, bytes = Math.min(MAX_ALL_BYTES, this.#room.most("journals")) } = this.#limits;
    const { ownCalls = MAX_CALLS } = this.#limits;
    const part = (most: number): number => Math.min(MAX_SEGMENT_CALLS, Math.ceil(most / SEGMENTS));
    const limits = [calls, bytes, ownCalls, part(Math.min(calls, ownCalls)), Math.ceil(bytes / SEGMENTS)];
    const now = Date.now();
    const lists: Lists = { heads: [], more: [] };
    const oldestFirst = records.toSorted((a, b) => startOf(a) - startOf(b)); // as segments go
    for (const record of oldestFirst) addArguments(lists, record, texts?.get(record.toolCallId), now);
    const isTooMuch = await this.#connection.run("note calls", (redis) =>
      redis.writeCalls(this.#segments, now, caller, ...limits, records.length, ...lists.heads, ...lists.more),
    );
    if (isTooMuch === 0 && performance.now() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = performance.now();
    this.#connection.run("forget calls", (redis) => redis.forgetCalls(this.#segments, now, ...limits)).catch(() => {}); // with the next write, then
  }

  async search(search: CallSearch): Promise<CallPage> {
    const { calls, next } = await this.#searchIn(search);
    return { calls: calls.map(shownRecord), next };
  }

  async #searchIn(search: SegmentSearch): Promise<CallPage> {
    return findCalls(search, await this.#readSegments(search), async (among, what) => {
      const { most, latest, earliest, id, parts } = what;
      const names = among.map(({ name }) => name);
      const answer = await this.#connection.run("search calls", (redis) =>
        redis.scanCalls(this.#segments, most, latest, earliest, id, parts.length, ...parts, ...names),
      );
      const [read, looked, texts] = answer as [number, number, string[]];
      return { read, looked, calls: toRecords(texts) };
    });
  }

  /** The segments that may have calls which a search is about, those with the newest start first. */
  async #readSegments(search: SegmentSearch): Promise<Segment[]> {
    const { parents, by, after } = search;
    const lists = by === undefined ? parents?.map((parent) => `inner:${parent}`) : [`by:${by}`];
    const least = after === undefined ? "-inf" : `(${after}`;
    const [all, begins, meant] = (await Promise.all([
      this.#connection.run("list calls", (redis) =>
        redis.zrange(this.#segments, "+inf", least, "BYSCORE", "REV", "WITHSCORES"),
      ),
      this.#connection.run("list calls", (redis) => redis.hgetall(`${this.#segments}:begins`)),
      lists?.length
        ? this.#connection.run("list calls", (redis) => redis.sunion(lists.map((name) => `${this.#segments}:${name}`)))
        : lists,
    ])) as [string[], Readonly<Record<string, string>>, string[] | undefined];
    const listed = meant && new Set(meant);
    const latest = latestOf(search);
    const isMeant = (name: string): boolean => Number(begins[name]) <= latest && (listed?.has(name) ?? true);
    return all.flatMap((name, at) => (at % 2 === 0 && isMeant(name) ? { name, newest: Number(all[at + 1]) } : []));
  }

  async readOpen(caller: string): Promise<CallRecord[]> {
    await this.#takeOver(caller);
    return toRecords(
      await this.#connection.run("read open calls", (redis) => redis.readOpenCalls(this.#segments, caller)),
    );
  }

  /** Makes the open calls of a process of the release before its caller's. */
  async #takeOver(caller: string): Promise<void> {
    const found = await this.#connection.run("read open calls of the release before", (redis) =>
      redis.readOpenCallsBefore(this.#segments, caller),
    );
    const records = (found as [string, string][]).map(([kept, ahead]) => laterOf(ahead, kept));
    const open = records.filter((record) => record !== undefined).filter(isOpen);
    for (let begin = 0; begin < open.length; begin += MAX_TAKEN)
      await this.write(caller, open.slice(begin, begin + MAX_TAKEN));
    if (records.length > 0)
      await this.#connection.run("take over open calls", (redis) =>
        redis.del(...["open", "ahead"].map((name) => `${this.#prefix}:${name}:${caller}`)),
      );
  }

  async readRecent(caller: string, limit: number): Promise<CallRecord[]> {
    return (await this.#searchIn({ by: caller, limit })).calls.map(withoutSecrets);
  }

  async read(caller: string, toolCallId: string): Promise<CallRecord | undefined> {
    const answer = await this.#connection.run("read a call", (redis) =>
      redis.readCall(this.#segments, caller, toolCallId),
    );
    const [text, kept, ahead] = answer as [string, string, string];
    const record = text === "" ? laterOf(ahead, kept) : toRecord(text);
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

  get #segments(): string {
    return `${this.#prefix}:segments`;
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

interface Lists {
  /** Four of each record. */
  readonly heads: (string | number)[];
  readonly more: (string | number)[];
}

/** See `writeCalls`. */
function addArguments({ heads, more }: Lists, record: CallRecord, texts: KeptTexts | undefined, now: number): void {
  const { toolCallId, parent, request, state } = record;
  let has: number = isOpen(record) ? Has.NoEnd : 0;
  if (parent !== undefined) {
    has += Has.Parent;
    more.push(parent);
  }
  if (request !== undefined) {
    has += Has.Request;
    more.push(state === CallState.Answered ? "" : request);
  }
  if (texts !== undefined && texts.until > now) {
    has += Has.Texts;
    more.push(JSON.stringify(texts), Math.ceil(texts.until - now));
  }
  heads.push(has, toolCallId, encodeURIComponent(ownerOf(record)), startOf(record) + JSON.stringify(record));
}

/** What stands of a call: what was noted ahead of a later attempt, or the kept record. */
function laterOf(noted: string, kept: string): CallRecord | undefined {
  const [ahead, record] = [noted, kept].map((text) => (text === "" ? undefined : (JSON.parse(text) as CallRecord)));
  if (ahead === undefined || record === undefined) return ahead ?? record;
  const isLater = ahead.attempts > record.attempts || startOf(ahead) > startOf(record);
  return isLater && !stays(record, ahead) ? ahead : record;
}

const withoutSecrets = ({ blob: _blob, sent: _sent, ...record }: CallRecord): CallRecord => record;
/** A text is the start of a call and its record. */
const toRecord = (text: string): CallRecord => JSON.parse(text.slice(text.indexOf("{"))) as CallRecord;
const toRecords = (texts: unknown): CallRecord[] => (texts as string[]).map(toRecord);

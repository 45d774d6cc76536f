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
import { ANSWER_KEPT_MS, type CallRecord, isOpen } from "../call-record.ts";
import { type JournalStore, MAX_SLOTS, type SlotClaim, type WriteAnswerOptions } from "../journal-store.ts";
import { commands } from "./commands.ts";

/**
 * Journals and slots in Redis 7.0 or later. Each operation is one round trip, and ends within 500 ms. A Redis that
 * cannot be reached is no error here: operations fail until it can be, now as later.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisJournalStore(url: RedisUrl, options: RedisStoreOptions = {}): Promise<JournalStore> {
  return connectStore(new RedisJournalStore(parseRedisAddress(url), options), options);
}

class RedisJournalStore implements JournalStore {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #room: RedisRoom<typeof commands>;
  readonly #answers = new WrittenBytes(ANSWER_KEPT_MS);
  /** The common part of names; the braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
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

  async write(caller: string, records: readonly CallRecord[]): Promise<void> {
    const { records: all, order, open } = this.#names(caller);
    const texts = records.flatMap((record) => [record.toolCallId, JSON.stringify(record)]);
    const times = records.flatMap((record) => [record.steps[0]?.at ?? 0, record.toolCallId]);
    const opened = records.filter(isOpen).map(idOf);
    const ended = records.filter((record) => !isOpen(record)).map(idOf);
    const lists = [records.length, opened.length, ...texts, ...times, ...opened, ...ended];
    await this.#connection.run("note calls", (redis) =>
      redis.writeCalls(all, order, open, this.#callers, caller, Date.now(), ...lists),
    );
  }

  async readOpen(caller: string): Promise<CallRecord[]> {
    const { records, open } = this.#names(caller);
    return toRecords(await this.#connection.run("read open calls", (redis) => redis.readOpenCalls(records, open)));
  }

  async readRecent(caller: string, limit: number): Promise<CallRecord[]> {
    const { records, order } = this.#names(caller);
    return toRecords(
      await this.#connection.run("read calls", (redis) => redis.readRecentCalls(records, order, limit)),
    ).map(withoutSecrets);
  }

  async read(caller: string, toolCallId: string): Promise<CallRecord | undefined> {
    const found = await this.#connection.run("read a call", (redis) =>
      redis.hget(this.#names(caller).records, toolCallId),
    );
    return toRecords(found === null ? [] : [found]).map(withoutSecrets)[0];
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

  #names(caller: string): { readonly records: string; readonly order: string; readonly open: string } {
    return {
      records: `${this.#prefix}:calls:${caller}`,
      order: `${this.#prefix}:order:${caller}`,
      open: `${this.#prefix}:open:${caller}`,
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

const withoutSecrets = ({ blob: _blob, sent: _sent, ...record }: CallRecord): CallRecord => record;
const idOf = ({ toolCallId }: CallRecord): string => toolCallId;
const toRecords = (texts: unknown): CallRecord[] => (texts as string[]).map((text) => JSON.parse(text) as CallRecord);

import { isUtf8 } from "node:buffer";
import { type Logger, silentLogger } from "@rockbot/bus";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
  type ServerFacts,
  WrittenBytes,
} from "../../redis/index.ts";
import { StoreFullError } from "../../store-unavailable-error.ts";
import { checkLeaseMs } from "../check-lease-ms.ts";
import { claimKeyText } from "../claim-key-text.ts";
import {
  type Claim,
  type ClaimKey,
  type ClaimOptions,
  type ClaimOutcome,
  type ClaimStore,
  type ClaimView,
  MAX_REPLY_BYTES,
  RECORD_KEPT_MS,
  REPLY_KEPT_MS,
} from "../claim-store.ts";
import { endOfTurn } from "./end-of-turn.ts";
import { transitions } from "./transitions.ts";
import { TurnBatch } from "./turn-batch.ts";

/**
 * Claims in Redis 7.0 or later, shared by all processes that use it. Each operation is one round trip, and ends within
 * 500 ms. Claims that are taken or completed in the same turn of the event loop share a trip. An unreachable Redis is
 * no error here: operations fail until it is reachable, now as later.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisClaimStore(url: RedisUrl, options: RedisClaimStoreOptions = {}): Promise<ClaimStore> {
  return connectStore(new RedisClaimStore(parseRedisAddress(url), options), options);
}

export interface RedisClaimStoreOptions extends RedisStoreOptions {
  /**
   * True if the operator vouches that Redis keeps acknowledged writes through a restart and through a failover. Else
   * either makes it a store that remembers nothing of before. @default false
   */
  readonly keepsAll?: boolean | undefined;
}

/**
 * How often the marker is looked at, so that a Redis that was emptied is known as such before the next call comes, and
 * not by that call.
 */
const LOOK_MS = 1_000;
/** What a record takes in Redis, about. */
const RECORD_BYTES = 400;

class RedisClaimStore implements ClaimStore {
  readonly #label: string;
  readonly #log: Logger;
  readonly #connection: RedisConnection<typeof transitions>;
  readonly #room: RedisRoom<typeof transitions>;
  readonly #records = new WrittenBytes(RECORD_KEPT_MS);
  readonly #replies = new WrittenBytes(REPLY_KEPT_MS);
  /** The common part of names; the braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;
  readonly #marker: string;
  /** One for both, so that what a turn takes and what it completes go out as one write. */
  readonly #atEndOfTurn = endOfTurn();
  readonly #taking = new TurnBatch((calls: readonly BatchedCall[]) => this.#take(calls), this.#atEndOfTurn);
  readonly #completing = new TurnBatch((calls: readonly BatchedCall[]) => this.#complete(calls), this.#atEndOfTurn);
  readonly #keepsAll: boolean;
  /** True if the server may silently drop records, or be another at each command. */
  #isForgetful = false;
  #hasWarned = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(
    address: RedisAddress,
    { log = silentLogger, prefix = "rockbot", ca, keepsAll = false }: RedisClaimStoreOptions,
  ) {
    this.#label = address.label;
    this.#log = log;
    this.#prefix = `${prefix}:{claims}`;
    this.#marker = `${this.#prefix}:born`;
    this.#keepsAll = keepsAll;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "claims",
      whileAway: "no claim can be made",
      scripts: transitions,
      needsFacts: !this.#keepsAll,
      prepare: async (redis, facts) => {
        this.#judge(facts);
        await redis.openClaimsBuffer(this.#marker, ...this.#birthArguments(facts));
      },
    });
    this.#room = new RedisRoom(this.#connection);
  }

  async start(timeoutMs: number): Promise<void> {
    await this.#connection.start(timeoutMs);
    this.#looking = setInterval(() => {
      if (this.#connection.isUp) this.#take([]).catch(() => {}); // the next look, or the next claim, finds it out
    }, LOOK_MS).unref();
  }

  async claim(key: ClaimKey, { owner, requestHash, leaseMs }: ClaimOptions): Promise<ClaimOutcome> {
    checkLeaseMs(leaseMs);
    if (!this.#mayWrite(this.#records, key.caller, RECORD_BYTES) && (await this.look(key)) === undefined)
      throw new StoreFullError(
        `"${key.caller}" makes no further call with effects for now: Redis has little room left, and remembers more calls of this caller than its share. It forgets each after 8 days.`,
      );
    const answer = await this.#taking.add({ names: this.#names(key), args: [owner, requestHash, leaseMs] });
    const [state, epoch, memoryMs] = answer as [Buffer, number, number];
    switch (state.toString()) {
      case "taken":
        return {
          state: "taken",
          claim: { key, owner, epoch, requestHash },
          isTakenOver: epoch > 1,
          remembersSince: this.#isForgetful ? Number.POSITIVE_INFINITY : performance.now() - memoryMs,
        };
      case "conflict":
        return { state: "conflict" };
      default:
        return readView(answer);
    }
  }

  async renew({ key, owner, epoch, requestHash }: Claim, leaseMs: number): Promise<boolean> {
    checkLeaseMs(leaseMs);
    const [record] = this.#names(key);
    return (
      (await this.#connection.run("renew a claim", (redis) =>
        redis.renewClaimBuffer(record, owner, epoch, requestHash, leaseMs),
      )) === 1
    );
  }

  async complete({ key, owner, epoch, requestHash }: Claim, reply: Uint8Array): Promise<boolean> {
    const isKept = reply.length <= MAX_REPLY_BYTES && this.#mayWrite(this.#replies, key.caller, reply.length);
    const kept = isKept ? [toArgument(reply), "1"] : ["", "0"];
    return (await this.#completing.add({ names: this.#names(key), args: [owner, epoch, requestHash, ...kept] })) === 1;
  }

  async release({ key, owner, epoch }: Claim): Promise<boolean> {
    const [record] = this.#names(key);
    return (
      (await this.#connection.run("release a claim", (redis) => redis.releaseClaimBuffer(record, owner, epoch))) === 1
    );
  }

  async cancel(key: ClaimKey): Promise<"unclaimed" | "claimed" | "done" | "cancelled"> {
    const [record] = this.#names(key);
    const unseen = `${this.#prefix}:cancelled:${key.caller}`;
    const before = await this.#connection.run("cancel a call", (redis) => redis.cancelCallBuffer(record, unseen));
    return String(before) as "unclaimed" | "claimed" | "done" | "cancelled";
  }

  async look(key: ClaimKey): Promise<ClaimView | undefined> {
    const [record, reply] = this.#names(key);
    const answer = await this.#connection.run("look at a call", (redis) => redis.lookAtCallBuffer(record, reply));
    const state = String((answer as Buffer[])[0]);
    if (state === "unknown") return undefined;
    return state === "lapsed" ? { state } : readView(answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking);
    await this.#connection.close();
  }

  /**
   * Tells whether the caller may have more here, by what this process knows; then it counts as written. While there is
   * room, it may.
   */
  #mayWrite(written: WrittenBytes, caller: string, bytes: number): boolean {
    if (written.of(caller) + bytes > this.#room.wrote(bytes, "claims")) return false;
    written.add(caller, bytes);
    return true;
  }

  #take(calls: readonly BatchedCall[]): Promise<unknown[]> {
    const names = [this.#marker, ...calls.flatMap((call) => call.names)];
    return this.#connection.run("take a claim", (redis, facts) =>
      redis.takeClaimsBuffer(
        names.length,
        ...names,
        ...this.#birthArguments(facts),
        ...calls.flatMap((call) => call.args),
      ),
    ) as Promise<unknown[]>;
  }

  /** The arguments for the scripts that look at the marker. */
  #birthArguments({ run, history }: ServerFacts): readonly string[] {
    return [run ?? "", history, this.#keepsAll ? "1" : "0"];
  }

  #complete(calls: readonly BatchedCall[]): Promise<unknown[]> {
    const names = calls.flatMap((call) => call.names);
    return this.#connection.run("complete a claim", (redis) =>
      redis.completeClaimsBuffer(names.length, ...names, ...calls.flatMap((call) => call.args)),
    ) as Promise<unknown[]>;
  }

  #names(key: ClaimKey): readonly [record: string, reply: string] {
    const text = claimKeyText(key);
    return [`${this.#prefix}:${text}`, `${this.#prefix}:reply:${text}`];
  }

  /** Notes what this Redis cannot promise, and says it once. */
  #judge({ run, isLogged, mayEvict }: ServerFacts): void {
    this.#isForgetful = mayEvict || (run === undefined && !this.#keepsAll);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const about = { redis: this.#label, cost: "a redelivered call without a claim ends in outcome_unknown" };
    if (isLogged === false)
      this.#log.warn(about, "Redis keeps no append-only file, so a restart loses claims. Set `appendonly yes`");
    if (mayEvict)
      this.#log.warn(about, "Redis may evict claims when its memory is full. Set `maxmemory-policy noeviction`");
    if (run === undefined && !this.#keepsAll)
      this.#log.warn(about, "Redis does not say when it started (run_id of INFO), so it may have lost claims");
  }
}

/** The arguments of a script for many claims that belong to one of them. */
interface BatchedCall {
  readonly names: readonly string[];
  readonly args: readonly (string | Buffer | number)[];
}

/** One buffer among its arguments makes the client put a whole command together from buffers, which takes it longer. */
function toArgument(bytes: Uint8Array): string | Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return isUtf8(buffer) ? buffer.toString() : buffer;
}

/** Reads the answer of a script that has told how a call stands. */
function readView(answer: unknown): Extract<ClaimView, { state: "held" | "done" | "cancelled" }> {
  const [state, first, second] = answer as [Buffer, Buffer | null, number];
  switch (state.toString()) {
    case "held":
      return { state: "held", owner: String(first), leaseLeftMs: second };
    case "done":
      return { state: "done", reply: first ?? undefined };
    default:
      return { state: "cancelled" };
  }
}

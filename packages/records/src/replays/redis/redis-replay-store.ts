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
import { StoreFullError, StoreUnavailableError } from "../../store-unavailable-error.ts";
import {
  DEFAULT_REPLAY_LIMITS,
  END_KEPT_MS,
  type HeldReplay,
  NOTE_BYTES,
  type OpenReplay,
  REPLAY_KEPT_MS,
  type ReplayKey,
  type ReplayLimits,
  type ReplayStore,
  replayFull,
} from "../replay-store.ts";
import { commands } from "./commands.ts";

/** How a replay store in Redis is connected, and how much it keeps. */
export interface RedisReplayStoreOptions extends RedisStoreOptions, Partial<ReplayLimits> {}

/** So much goes in one command: an answer must be there within 500 ms. */
const PIECE_BYTES = 512 * 1024;
/** A part of no note, as its process has ended, goes after this time. */
const PART_MS = 60_000;

/**
 * Replays in Redis 7.0 or later. Each command has its answer within 500 ms, or fails. A Redis that cannot be reached is
 * no error here: operations fail until it can be.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisReplayStore(
  url: RedisUrl,
  options: RedisReplayStoreOptions = {},
): Promise<ReplayStore> {
  return connectStore(new RedisReplayStore(parseRedisAddress(url), options), options);
}

class RedisReplayStore implements ReplayStore {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #room: RedisRoom<typeof commands>;
  readonly #prefix: string;
  readonly #limits: ReplayLimits;

  constructor(
    address: RedisAddress,
    { log = silentLogger, prefix = "rockbot", ca, ...limits }: RedisReplayStoreOptions,
  ) {
    this.#prefix = `${prefix}:{replays}`;
    this.#limits = { ...DEFAULT_REPLAY_LIMITS, ...limits };
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "replays of scripts",
      whileAway: "scripts that call tools are ended",
      scripts: commands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async open({ caller, toolCallId }: ReplayKey, fresh = ""): Promise<OpenReplay | undefined> {
    const fields = (await this.#connection.run("open a record of a script", (redis) =>
      redis.openReplay(this.#record({ caller, toolCallId }), fresh, REPLAY_KEPT_MS),
    )) as string[];
    if (fields.length === 0) return undefined;
    const heads = new Map<string, string>();
    const facts = new Map<string, string>();
    for (let at = 0; at < fields.length; at += 2) {
      const [name = "", value = ""] = [fields[at], fields[at + 1]];
      if (name.startsWith(":")) heads.set(name.slice(1), value);
      else facts.set(name, value);
    }
    return {
      caller,
      toolCallId,
      attempt: Number(facts.get("attempt")),
      beginning: facts.get("beginning") ?? "",
      heads,
    };
  }

  async note(held: HeldReplay, step: string, head: string, bytes: Uint8Array): Promise<boolean> {
    const { maxBytes, maxBytesPerCaller } = this.#limits;
    const length = bytes.byteLength;
    if (!(await this.#room.take(length)))
      throw new StoreFullError("Redis reserves the rest of its memory for more important records");
    const { most } = await this.#room.share("replays");
    const perCaller = Math.min(maxBytesPerCaller, Math.max(most, maxBytes));
    const part = `${this.#prefix}:part:${randomBytes(8).toString("hex")}`;
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    const isSmall = length <= PIECE_BYTES;
    if (!isSmall) await this.#writePart(part, whole);
    const noted = await this.#connection.run("note a step of a script", (redis) =>
      redis.noteReplay(
        this.#record(held),
        ...this.#ofCaller(held),
        this.#bytes(held, step),
        part,
        held.attempt,
        step,
        head,
        length,
        NOTE_BYTES,
        REPLAY_KEPT_MS,
        maxBytes,
        perCaller,
        isSmall ? whole : "",
      ),
    );
    if (noted === 2) throw new StoreFullError(replayFull("one call", maxBytes));
    if (noted === 3) throw new StoreFullError(replayFull(`"${held.caller}"`, perCaller));
    return noted === 1;
  }

  async #writePart(part: string, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      await this.#connection.run("keep an answer of a script", (redis) =>
        at === 0 ? redis.set(part, piece, "PX", PART_MS) : redis.append(part, piece),
      );
    }
  }

  async read(key: ReplayKey, step: string): Promise<Uint8Array> {
    const name = this.#bytes(key, step);
    const pieces: Buffer[] = [];
    for (let at = 0; ; at += PIECE_BYTES) {
      const piece = (await this.#connection.run("read an answer of a script", (redis) =>
        redis.getrangeBuffer(name, at, at + PIECE_BYTES - 1),
      )) as Buffer;
      pieces.push(piece);
      if (piece.length < PIECE_BYTES) break;
    }
    const bytes = Buffer.concat(pieces);
    if (bytes.length === 0) throw new StoreUnavailableError("What was noted is there no more");
    return bytes;
  }

  async end(held: HeldReplay): Promise<void> {
    const [, ends] = this.#ofCaller(held);
    await this.#connection.run("end a record of a script", (redis) =>
      redis.endReplay(this.#record(held), ends, held.attempt, END_KEPT_MS),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  #record({ caller, toolCallId }: ReplayKey): string {
    return `${this.#prefix}:record:${encodeURIComponent(caller)}:${encodeURIComponent(toolCallId)}`;
  }

  #bytes(key: ReplayKey, step: string): string {
    return `${this.#record(key)}:${step}`;
  }

  #ofCaller({ caller }: Pick<ReplayKey, "caller">): [sizes: string, ends: string] {
    const name = encodeURIComponent(caller);
    return [`${this.#prefix}:sizes:${name}`, `${this.#prefix}:ends:${name}`];
  }
}

import { hash } from "node:crypto";
import { silentLogger } from "@rockbot/bus";
import type { AgentEvent } from "@rockbot/contracts";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
  type Share,
} from "@rockbot/records/redis";
import type { NewEvent } from "../../words/new-event.ts";
import type { EventPage, HistoryTurn, SessionKey, SessionListing } from "../../words/session.ts";
import type { TurnResult } from "../../words/turn.ts";
import {
  EVENTS_KEPT_MS,
  listingOf,
  newestOf,
  SESSION_KEPT_MS,
  type StoredAnswer,
  type StoredResult,
  type TakenTurn,
  type TurnClaim,
  type TurnLease,
  type TurnPlacing,
  type TurnRecord,
  type TurnStore,
} from "../turn-store.ts";
import { turnCommands } from "./turn-commands.ts";

/** How a store of turns in Redis is connected. */
export interface RedisTurnStoreOptions extends RedisStoreOptions {
  /** How long a session without a turn is remembered. @default 7 days */
  readonly sessionKeptMs?: number | undefined;
}

/**
 * Sessions and turns in Redis 7.0 or later, shared by all processes that use it. Each operation ends within 500 ms for
 * each of its round trips. A Redis that cannot be reached is no error here: operations fail until it can be, now as
 * later.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisTurnStore(url: RedisUrl, options: RedisTurnStoreOptions = {}): Promise<TurnStore> {
  return connectStore(new RedisTurnStore(parseRedisAddress(url), options), options);
}

type Send = Parameters<RedisConnection<typeof turnCommands>["run"]>[1];

class RedisTurnStore implements TurnStore {
  readonly #connection: RedisConnection<typeof turnCommands>;
  readonly #room: RedisRoom<typeof turnCommands>;
  /** The braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;
  readonly #sessionKeptMs: number;

  constructor(
    address: RedisAddress,
    { log = silentLogger, prefix = "rockbot", ca, sessionKeptMs = SESSION_KEPT_MS }: RedisTurnStoreOptions,
  ) {
    this.#prefix = `${prefix}:{turns}`;
    this.#sessionKeptMs = sessionKeptMs;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "turns",
      whileAway: "turns wait for it for 10 s, and end in words after that",
      scripts: turnCommands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async take(session: SessionKey, { turnId, owner, leaseMs, maxWaiting, record }: TurnClaim): Promise<TakenTurn> {
    const { lease, fence, queue, seen, current, history, turn } = this.#keys(session, turnId);
    const share = await this.#room.share("sessions");
    const answer = (await this.#connection.run("take a session", (redis) =>
      redis.takeSession(
        ...this.#counted(session, [lease, fence, queue, seen, current, turn, history], share),
        ...[turnId, owner, leaseMs, maxWaiting, ...fieldsOf(record)],
      ),
    )) as readonly unknown[];
    const [state, value] = answer;
    if (state === "no room") return { state, most: share.most };
    if (state === "ended") return { state, result: JSON.parse(value as string) as TurnResult };
    if (state === "full") return { state, waiting: Number(value) };
    if (state === "waiting") return { state, ahead: Number(value) };
    const [fields, texts] = answer.slice(2) as [readonly string[], readonly string[]];
    return {
      state: "taken",
      fence: Number(value),
      record: recordOf(fields),
      history: texts.map((text) => JSON.parse(text) as HistoryTurn),
    };
  }

  async place(session: SessionKey, { turnId, placeMs, maxWaiting }: TurnPlacing): Promise<void> {
    const { queue, seen, turn } = this.#keys(session, turnId);
    await this.#connection.run("give a turn its place", (redis) =>
      redis.placeTurn(queue, seen, turn, turnId, placeMs, maxWaiting),
    );
  }

  async getsOn(session: SessionKey, turnId: string): Promise<boolean> {
    const { queue, current, turn } = this.#keys(session, turnId);
    return this.#did("look at a turn", (redis) => redis.turnGetsOn(turn, queue, current, turnId));
  }

  async renew(session: SessionKey, { turnId, owner, fence: term }: TurnLease, leaseMs: number): Promise<boolean> {
    const { lease, fence, current } = this.#keys(session, turnId);
    return this.#did("renew a session's lease", (redis) =>
      redis.renewSession(lease, fence, current, owner, term, leaseMs),
    );
  }

  async leave(session: SessionKey, turnId: string, owner: string): Promise<void> {
    const { lease, queue, seen, turn } = this.#keys(session, turnId);
    await this.#connection.run("leave a session", (redis) =>
      redis.leaveSession(lease, queue, seen, turn, owner, turnId),
    );
  }

  async addAnswer(
    session: SessionKey,
    { turnId, owner, fence: term }: TurnLease,
    index: number,
    answer: StoredAnswer,
  ): Promise<boolean> {
    const { lease, fence, turn } = this.#keys(session, turnId);
    const keys = this.#counted(session, [lease, fence, turn]);
    return this.#did("keep an answer", (redis) => redis.addAnswer(...keys, owner, term, index, JSON.stringify(answer)));
  }

  async addResult(
    session: SessionKey,
    { turnId, owner, fence: term }: TurnLease,
    callId: string,
    result: StoredResult,
  ): Promise<boolean> {
    const { lease, fence, turn } = this.#keys(session, turnId);
    const keys = this.#counted(session, [lease, fence, turn]);
    return this.#did("keep a result", (redis) => redis.addResult(...keys, owner, term, callId, JSON.stringify(result)));
  }

  async end(
    session: SessionKey,
    { turnId, owner, fence: term }: TurnLease,
    result: TurnResult,
    entries: readonly HistoryTurn[],
  ): Promise<boolean> {
    const { lease, fence, current, turn, history, about } = this.#keys(session, turnId);
    const texts = entries.map((entry) => JSON.stringify(entry));
    const keys = this.#counted(session, [lease, fence, current, turn, history, about]);
    const values = [
      JSON.stringify(result),
      this.#sessionKeptMs,
      JSON.stringify(listingOf(session, entries)) ?? "",
      ...texts,
    ];
    return this.#did("end a turn", (redis) => redis.endTurn(...keys, owner, term, ...values));
  }

  async sessions(caller: string): Promise<readonly SessionListing[]> {
    const texts = await this.#connection.run("list sessions", (redis) =>
      redis.listSessions(`${this.#prefix}:room:keys:${nameOf(caller)}`),
    );
    return newestOf((texts as readonly string[]).map((text) => JSON.parse(text) as SessionListing));
  }

  async history(session: SessionKey): Promise<readonly HistoryTurn[]> {
    const texts = await this.#connection.run("read a session", (redis) =>
      redis.lrange(this.#keys(session).history, 0, -1),
    );
    return (texts as readonly string[]).map((text) => JSON.parse(text) as HistoryTurn);
  }

  async note(session: SessionKey, entry: HistoryTurn): Promise<void> {
    const keys = this.#counted(session, [this.#keys(session).history]);
    await this.#connection.run("note a message", (redis) =>
      redis.noteMessage(...keys, this.#sessionKeptMs, JSON.stringify(entry)),
    );
  }

  async addEvents(
    session: SessionKey,
    turnId: string,
    added: readonly NewEvent[],
    after: number,
  ): Promise<readonly AgentEvent[]> {
    const { events, sequence } = this.#keys(session);
    const texts = added.map((event) => JSON.stringify({ sessionId: session.sessionId, turnId, ...event }));
    const keys = this.#counted(session, [events, sequence]);
    const first = Number(
      await this.#connection.run("keep events", (redis) => redis.addEvents(...keys, after, ...texts)),
    );
    return added.map((event, index) => ({ sessionId: session.sessionId, turnId, sequence: first + index, ...event }));
  }

  async events(session: SessionKey, after: number, limit: number): Promise<EventPage> {
    const { events, sequence } = this.#keys(session);
    const answer = await this.#connection.run("read events", (redis) =>
      redis.readEvents(events, sequence, after, limit),
    );
    const [entries, last] = answer as [
      readonly (readonly [id: string, fields: readonly [string, string]])[],
      string | null,
    ];
    const oldest = Date.now() - EVENTS_KEPT_MS;
    const read = entries.map(([id, [, text]]) => ({
      ...(JSON.parse(text) as Omit<AgentEvent, "sequence">),
      sequence: Number.parseInt(id, 10),
    }));
    return { events: read.filter(({ at }) => Date.parse(at) >= oldest), last: Number(last ?? 0) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  /** The keys of a script, behind those of the count, and the arguments of the count: see `counted`. */
  #counted(
    { caller }: SessionKey,
    keys: readonly string[],
    { most, over }: Share = this.#room.knownShare("sessions"),
  ): (string | number)[] {
    const name = nameOf(caller);
    const count = [`${this.#prefix}:room`, `${this.#prefix}:room:keys:${name}`, `${this.#prefix}:room:bytes:${name}`];
    return [
      ...count,
      ...keys,
      name,
      most,
      over,
      ...["current", "lease", "queue"].map((kind) => `${this.#prefix}:${kind}:`),
    ];
  }

  async #did(what: string, send: Send): Promise<boolean> {
    return (await this.#connection.run(what, send)) === 1;
  }

  #keys({ caller, sessionId }: SessionKey, turnId = "") {
    const session = hash("sha256", JSON.stringify([caller, sessionId]), "hex").slice(0, 32);
    const key = (kind: string): string => `${this.#prefix}:${kind}:${session}`;
    return {
      lease: key("lease"),
      fence: key("fence"),
      queue: key("queue"),
      seen: key("seen"),
      current: key("current"),
      history: key("history"),
      about: key("about"),
      events: key("events"),
      sequence: key("sequence"),
      turn: `${key("turn")}:${turnId}`,
    };
  }
}

/** The hashed name of a caller in the keys that count for it. */
const nameOf = (caller: string): string => hash("sha256", caller, "hex").slice(0, 32);

/** @returns names and values in turns */
const fieldsOf = ({ answers, results, ...record }: TurnRecord): string[] => [
  ...["record", JSON.stringify(record), "n", String(answers.length)],
  ...answers.flatMap((answer, index) => [`a:${index}`, JSON.stringify(answer)]),
  ...[...results].flatMap(([callId, result]) => [`r:${callId}`, JSON.stringify(result)]),
];

/** @param fields names and values in turns */
function recordOf(fields: readonly string[]): TurnRecord | undefined {
  const values = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) values.set(fields[at] as string, fields[at + 1] as string);
  const record = values.get("record");
  if (record === undefined) return undefined;
  const answers = Array.from(
    { length: Number(values.get("n")) },
    (_, index) => JSON.parse(values.get(`a:${index}`) ?? "null") as StoredAnswer,
  );
  const results = [...values]
    .filter(([name]) => name.startsWith("r:"))
    .map(([name, text]) => [name.slice(2), JSON.parse(text) as StoredResult] as const);
  return {
    ...(JSON.parse(record) as Pick<TurnRecord, "nonce" | "startedAt" | "hasReadUntrusted">),
    answers,
    results: new Map(results),
  };
}

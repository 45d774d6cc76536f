import { OldestFirstMap } from "@rockbot/base";
import type { AgentEvent } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { NewEvent } from "../../words/new-event.ts";
import type { EventPage, HistoryTurn, SessionKey, SessionListing } from "../../words/session.ts";
import type { TurnResult } from "../../words/turn.ts";
import { INTERRUPTED } from "../interrupted.ts";
import type { KeptSession, SessionShelf } from "../session-shelf.ts";
import {
  EVENTS_KEPT_MS,
  listingOf,
  MAX_EVENTS,
  MAX_HISTORY,
  MAX_TAKES,
  newestOf,
  RECORD_KEPT_MS,
  SESSION_KEPT_MS,
  type StoredAnswer,
  type StoredResult,
  TAKE_UP_LEASES,
  type TakenTurn,
  type TurnClaim,
  type TurnLease,
  type TurnPlacing,
  type TurnRecord,
  type TurnStore,
} from "../turn-store.ts";
import { SizedList, sizeOf } from "./sized-list.ts";

/** Bounds of a store in this process. */
export interface MemoryTurnStoreOptions {
  /** For one more session, the caller with the most loses the one that was used longest ago. @default 1_000 */
  readonly maxSessions?: number | undefined;
  /**
   * About how many bytes all sessions take. The sessions of the caller with the most give way, least recently used
   * first; one with a turn stays.
   * @default 128 MiB
   */
  readonly maxBytes?: number | undefined;
  /** How long a session without a turn is remembered. @default 7 days */
  readonly sessionKeptMs?: number | undefined;
  /** Where conversations outlive this process. @default nowhere */
  readonly shelf?: SessionShelf | undefined;
}

interface MutableRecord extends TurnRecord {
  readonly answers: StoredAnswer[];
  readonly results: Map<string, StoredResult>;
}

/** A turn that was taken and has not ended. */
interface OpenTurn {
  readonly record: MutableRecord;
  readonly until: number;
  /** What the shelf remembers of it until it ends. */
  readonly interrupted: readonly HistoryTurn[];
  bytes: number;
  /** How often it was taken since it last got on. */
  takes: number;
}

interface Session {
  readonly caller: string;
  readonly history: SizedList<HistoryTurn>;
  readonly events: SizedList<AgentEvent>;
  sequence: number;
  fence: number;
  lease: { readonly turnId: string; readonly owner: string; until: number } | undefined;
  /** The turn that was begun and has not ended: until when the session is its own. */
  current: { readonly turnId: string; until: number } | undefined;
  /** The turns that have not ended, by turn id. */
  readonly records: Map<string, OpenTurn>;
  /** By turn id, in order of their coming: until when each keeps its place. */
  readonly waiting: Map<string, number>;
  /** The results of the turns that ended last. */
  readonly results: SizedList<{ readonly turnId: string; readonly result: TurnResult }>;
  usedAt: number;
  /** As the store has counted it. */
  bytes: number;
}

/** Sessions are in the order of their use, but for so much. */
const ORDER_MS = 1_000;
/** So many results of a session are kept. */
const MAX_RESULTS = 64;
/** A session's history, its results and its events have so much each. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** What an empty session takes. */
const SESSION_BYTES = 2 * 1024;
const MAX_BYTES = 128 * 1024 * 1024;
/** How often all sessions are looked through for events that are too old. */
const SWEEP_MS = 60_000;

/** Sessions and turns in this process, gone with it but for what a shelf keeps. */
export function createMemoryTurnStore(options: MemoryTurnStoreOptions = {}): TurnStore {
  return new MemoryTurnStore(options);
}

class MemoryTurnStore implements TurnStore {
  readonly #sessions = new OldestFirstMap<string, Session>();
  readonly #maxSessions: number;
  readonly #maxBytes: number;
  #bytes = 0;
  #sweptAt = performance.now();
  readonly #sessionKeptMs: number;
  readonly #shelf: SessionShelf | undefined;
  #isClosed = false;

  constructor({
    maxSessions = 1_000,
    maxBytes = MAX_BYTES,
    sessionKeptMs = SESSION_KEPT_MS,
    shelf,
  }: MemoryTurnStoreOptions) {
    this.#maxSessions = maxSessions;
    this.#maxBytes = maxBytes;
    this.#sessionKeptMs = sessionKeptMs;
    this.#shelf = shelf;
    for (const kept of shelf?.sessions() ?? []) this.#restore(kept);
  }

  async take(key: SessionKey, { turnId, owner, leaseMs, maxWaiting, record, message }: TurnClaim): Promise<TakenTurn> {
    const session = this.#session(key, "take a session");
    const now = performance.now();
    const result = resultOf(session, turnId);
    if (result !== undefined) return { state: "ended", result };
    dropOld(session, now);

    if (session.lease?.owner !== owner && !mayTake(session, turnId)) {
      if (!waitInLine(session, { turnId, maxWaiting, until: now + leaseMs }))
        return { state: "full", waiting: session.waiting.size };
      return {
        state: "waiting",
        ahead: [...session.waiting.keys()].indexOf(turnId) + (session.lease === undefined ? 0 : 1),
      };
    }
    if (!session.records.has(turnId) && this.#isFullFor(key.caller)) return { state: "no room", most: this.#maxBytes };
    const isNewTaking = session.lease?.owner !== owner;
    if (isNewTaking) session.fence += 1;
    session.waiting.delete(turnId);
    session.lease = { turnId, owner, until: now + leaseMs };
    session.current = { turnId, until: now + TAKE_UP_LEASES * leaseMs };
    const open = session.records.get(turnId);
    const known = copyOf(open?.record);
    const turn: OpenTurn = open ?? newTurn(record, message, now);
    if (isNewTaking) turn.takes += 1;
    session.records.set(turnId, turn);
    this.#count(session);
    const taken: TakenTurn = {
      state: "taken",
      fence: session.fence,
      record: known,
      history: [...session.history.items],
    };
    if (open === undefined && message !== undefined) await this.#keep(key, session);
    return taken;
  }

  async place(key: SessionKey, { turnId, placeMs, maxWaiting }: TurnPlacing): Promise<void> {
    const session = this.#session(key, "give a turn its place");
    const now = performance.now();
    if (resultOf(session, turnId) !== undefined || session.records.has(turnId)) return;
    dropOld(session, now);
    waitInLine(session, { turnId, maxWaiting, until: now + placeMs });
  }

  async getsOn(key: SessionKey, turnId: string): Promise<boolean> {
    const { records, waiting, current } = this.#session(key, "look at a turn");
    const turn = records.get(turnId);
    if (turn !== undefined) return turn.takes < MAX_TAKES;
    const ahead = [...waiting.keys()].indexOf(turnId);
    return ahead > 0 || (ahead === 0 && current !== undefined && current.turnId !== turnId);
  }

  async renew(key: SessionKey, lease: TurnLease, leaseMs: number): Promise<boolean> {
    const session = this.#session(key, "renew a lease");
    if (session.lease === undefined || !holds(session, lease)) return false;
    const now = performance.now();
    session.lease.until = now + leaseMs;
    if (session.current !== undefined) session.current.until = now + TAKE_UP_LEASES * leaseMs;
    return true;
  }

  async leave(key: SessionKey, turnId: string, owner: string): Promise<void> {
    const session = this.#session(key, "leave a session");
    if (session.lease?.owner !== owner) return void session.waiting.delete(turnId);
    session.lease = undefined;
    const turn = session.records.get(turnId);
    if (turn !== undefined && turn.takes > 0) turn.takes -= 1;
  }

  async addAnswer(key: SessionKey, lease: TurnLease, index: number, answer: StoredAnswer): Promise<boolean> {
    const session = this.#session(key, "keep an answer");
    const known = session.records.get(lease.turnId);
    if (!holds(session, lease) || known === undefined) return false;
    const { answers } = known.record;
    if (answers.length !== index) return JSON.stringify(answers[index]) === JSON.stringify(answer);
    answers.push(structuredClone(answer));
    known.bytes += sizeOf(answer);
    known.takes = 0;
    this.#count(session);
    return true;
  }

  async addResult(key: SessionKey, lease: TurnLease, callId: string, result: StoredResult): Promise<boolean> {
    const session = this.#session(key, "keep a result");
    const known = session.records.get(lease.turnId);
    if (!holds(session, lease) || known === undefined) return false;
    if (known.record.results.has(callId)) return true;
    known.record.results.set(callId, { ...result });
    known.bytes += sizeOf(result);
    known.takes = 0;
    this.#count(session);
    return true;
  }

  async end(key: SessionKey, lease: TurnLease, result: TurnResult, history: readonly HistoryTurn[]): Promise<boolean> {
    const session = this.#session(key, "end a turn");
    const kept = resultOf(session, lease.turnId);
    if (kept !== undefined) return JSON.stringify(kept) === JSON.stringify(result);
    if (!holds(session, lease)) return false;
    session.results.add({ turnId: lease.turnId, result: structuredClone(result) });
    session.results.bound(MAX_RESULTS, MAX_LIST_BYTES);
    session.history.add(...history);
    session.history.bound(MAX_HISTORY, MAX_LIST_BYTES);
    session.lease = undefined;
    session.current = undefined;
    session.records.delete(lease.turnId);
    this.#count(session);
    await this.#keep(key, session);
    return true;
  }

  async history(key: SessionKey): Promise<readonly HistoryTurn[]> {
    return [...this.#session(key, "read a session").history.items];
  }

  async sessions(caller: string): Promise<readonly SessionListing[]> {
    const now = performance.now();
    const own = [...this.#sessions].filter(
      ([, session]) => session.caller === caller && now - session.usedAt < this.#sessionKeptMs,
    );
    return newestOf(
      own.flatMap(
        ([key, { history }]) =>
          listingOf({ caller, sessionId: (JSON.parse(key) as [string, string])[1] }, history.items) ?? [],
      ),
    );
  }

  async note(key: SessionKey, entry: HistoryTurn): Promise<void> {
    const session = this.#session(key, "note a message");
    session.history.add(entry);
    session.history.bound(MAX_HISTORY, MAX_LIST_BYTES);
    this.#count(session);
    await this.#keep(key, session);
  }

  async addEvents(
    key: SessionKey,
    turnId: string,
    events: readonly NewEvent[],
    after: number,
  ): Promise<readonly AgentEvent[]> {
    const session = this.#session(key, "keep events");
    session.sequence = Math.max(session.sequence, after);
    const added = events.map((event) => ({ sessionId: key.sessionId, turnId, sequence: ++session.sequence, ...event }));
    session.events.add(...added);
    dropOldEvents(session);
    session.events.bound(MAX_EVENTS, MAX_LIST_BYTES);
    this.#count(session);
    return added;
  }

  async events(key: SessionKey, after: number, limit: number): Promise<EventPage> {
    const session = this.#session(key, "read events");
    dropOldEvents(session);
    this.#count(session);
    return {
      events: session.events.items.filter(({ sequence }) => sequence > after).slice(0, limit),
      last: session.sequence,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
  }

  #restore({ caller, sessionId, usedAt, sequence, history }: KeptSession): void {
    const idleMs = Date.now() - usedAt;
    if (idleMs >= this.#sessionKeptMs) return void this.#shelf?.drop({ caller, sessionId });
    const session = newSession(caller, undefined);
    session.sequence = sequence;
    session.usedAt = performance.now() - idleMs;
    session.history.add(...history);
    session.history.bound(MAX_HISTORY, MAX_LIST_BYTES);
    this.#sessions.set(JSON.stringify([caller, sessionId]), session);
    if (this.#sessions.size > this.#maxSessions) this.#dropOldest("sessions");
    this.#count(session);
  }

  async #keep({ caller, sessionId }: SessionKey, { sequence, history, records, current }: Session): Promise<void> {
    const { interrupted = [] } = (current && records.get(current.turnId)) ?? {};
    await this.#shelf?.put({
      caller,
      sessionId,
      usedAt: Date.now(),
      sequence,
      history: [...history.items, ...interrupted],
    });
  }

  #session({ caller, sessionId }: SessionKey, what: string): Session {
    if (this.#isClosed) throw new StoreUnavailableError(`Cannot ${what}: the store is closed`);
    const key = JSON.stringify([caller, sessionId]);
    const now = performance.now();
    const known = this.#sessions.get(key);
    const isFresh = known !== undefined && now - known.usedAt < this.#sessionKeptMs;
    const session = isFresh ? known : newSession(caller, known);
    if (now - this.#sweptAt >= SWEEP_MS) this.#sweep(now);
    if (isFresh && now - session.usedAt < ORDER_MS) return session; // each look would cost a place in the order
    session.usedAt = now;
    if (!isFresh) this.#bytes -= known?.bytes ?? 0;
    this.#sessions.set(key, session);
    if (this.#sessions.size > this.#maxSessions) this.#dropOldest("sessions");
    return session;
  }

  /** Counts what a session takes, after each change of it. */
  #count(session: Session): void {
    const bytes = bytesOf(session);
    this.#bytes += bytes - session.bytes;
    session.bytes = bytes;
    while (this.#bytes > this.#maxBytes && this.#dropOldest("bytes"));
  }

  /** True if sessions with a turn take all bytes, and most of these are this caller's. */
  #isFullFor(caller: string): boolean {
    return this.#bytes > this.#maxBytes && this.#callers("bytes")[0]?.[0] === caller;
  }

  /** Each caller, and how much it has. The one with the most comes first. */
  #callers(measure: "sessions" | "bytes"): [caller: string, amount: number][] {
    const amounts = new Map<string, number>();
    for (const [, { caller, bytes }] of this.#sessions)
      amounts.set(caller, (amounts.get(caller) ?? 0) + (measure === "bytes" ? bytes : 1));
    return [...amounts].sort(([, one], [, other]) => other - one);
  }

  /** Sessions with a turn stay, whatever the bound: as many as turns run. @returns whether there was one to drop */
  #dropOldest(measure: "sessions" | "bytes"): boolean {
    const now = performance.now();
    const idle = [...this.#sessions].filter(
      ([, { lease, waiting }]) => (lease === undefined || lease.until <= now) && waiting.size === 0,
    );
    const ofCaller = Map.groupBy(idle, ([, { caller }]) => caller);
    const callers = this.#callers(measure);
    // Where the sessions of one run, those of others with less than an equal share stay all the same.
    const fair = (measure === "bytes" ? this.#maxBytes : this.#maxSessions) / callers.length;
    const [most] = callers.find(([caller, amount]) => ofCaller.has(caller) && amount > fair) ?? [];
    const first = most === undefined ? undefined : ofCaller.get(most)?.[0];
    if (first === undefined) return false;
    const [key, { bytes }] = first;
    this.#sessions.delete(key);
    this.#bytes -= bytes;
    const [caller, sessionId] = JSON.parse(key) as [string, string];
    void this.#shelf?.drop({ caller, sessionId });
    return true;
  }

  /** A session that nobody uses keeps no events, either. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [, session] of this.#sessions) {
      dropOldEvents(session);
      this.#bytes += bytesOf(session) - session.bytes;
      session.bytes = bytesOf(session);
    }
  }
}

function newTurn(record: TurnRecord, message: string | undefined, now: number): OpenTurn {
  const asked = {
    role: "user",
    content: message ?? "",
    at: record.startedAt,
    ...(record.hasReadUntrusted ? { isUntrusted: true } : {}),
  } as const;
  const interrupted =
    message === undefined ? [] : [asked, { role: "assistant", content: INTERRUPTED, at: record.startedAt } as const];
  return {
    record: copyOf(record),
    interrupted,
    until: now + RECORD_KEPT_MS,
    bytes: sizeOf(record) + sizeOf(interrupted),
    takes: 0,
  };
}

const resultOf = ({ results }: Session, turnId: string): TurnResult | undefined =>
  results.items.find((one) => one.turnId === turnId)?.result;

function bytesOf({ history, events, results, records }: Session): number {
  const ofRecords = records.size === 0 ? 0 : [...records.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  return SESSION_BYTES + history.bytes + events.bytes + results.bytes + ofRecords;
}

function dropOldEvents({ events }: Session): void {
  const oldest = Date.now() - EVENTS_KEPT_MS;
  const firstKept = events.items.findIndex(({ at }) => Date.parse(at) >= oldest);
  events.drop(firstKept === -1 ? events.items.length : firstKept);
}

/** A session that is forgotten goes on counting its events. */
const newSession = (caller: string, forgotten: Session | undefined): Session => ({
  caller,
  history: new SizedList(),
  events: new SizedList(),
  sequence: forgotten?.sequence ?? 0,
  fence: forgotten?.fence ?? 0,
  lease: undefined,
  current: undefined,
  records: new Map(),
  waiting: new Map(),
  results: new SizedList(),
  usedAt: 0,
  bytes: 0,
});

function dropOld(session: Session, now: number): void {
  if (session.lease !== undefined && session.lease.until <= now) session.lease = undefined;
  if (session.current !== undefined && session.current.until <= now) session.current = undefined;
  for (const [begun, { until }] of session.records) if (until <= now) session.records.delete(begun);
  for (const [waiting, until] of session.waiting) if (until <= now) session.waiting.delete(waiting);
}

/** @returns false if there is no place for one more */
function waitInLine(
  { waiting }: Session,
  { turnId, maxWaiting, until }: { readonly turnId: string; readonly maxWaiting: number; readonly until: number },
): boolean {
  if (!waiting.has(turnId) && waiting.size >= maxWaiting) return false;
  waiting.set(turnId, until);
  return true;
}

function mayTake({ lease, current, waiting }: Session, turnId: string): boolean {
  if (lease !== undefined) return false;
  if (current !== undefined) return current.turnId === turnId;
  const [first] = waiting.keys();
  return first === undefined || first === turnId;
}

const holds = ({ lease, fence }: Session, { owner, fence: term }: TurnLease): boolean =>
  lease !== undefined && lease.owner === owner && fence === term && lease.until > performance.now();

function copyOf(record: TurnRecord): MutableRecord;
function copyOf(record: TurnRecord | undefined): MutableRecord | undefined;
function copyOf(record: TurnRecord | undefined): MutableRecord | undefined {
  return record && { ...record, answers: [...record.answers], results: new Map(record.results) };
}

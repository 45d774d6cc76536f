import { OldestFirstMap } from "@rockbot/base";
import type { AgentEvent } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { NewEvent } from "../turn/new-event.ts";
import type { HistoryTurn, TurnResult } from "../turn/turn.ts";
import {
  EVENTS_KEPT_MS,
  type EventPage,
  MAX_EVENTS,
  MAX_HISTORY,
  RECORD_KEPT_MS,
  SESSION_KEPT_MS,
  type SessionKey,
  type StoredAnswer,
  type StoredResult,
  TAKE_UP_LEASES,
  type TakenTurn,
  type TurnClaim,
  type TurnLease,
  type TurnRecord,
  type TurnStore,
} from "./turn-store.ts";

/** Bounds of a store in this process. */
export interface MemoryTurnStoreOptions {
  /** The session that was used longest ago gives way to one more. @default 1_000 */
  readonly maxSessions?: number | undefined;
  /** How long a session without a turn is remembered. @default 7 days */
  readonly sessionKeptMs?: number | undefined;
}

interface MutableRecord extends TurnRecord {
  readonly answers: StoredAnswer[];
  readonly results: Map<string, StoredResult>;
}

interface Session {
  history: HistoryTurn[];
  events: AgentEvent[];
  sequence: number;
  fence: number;
  lease: { readonly turnId: string; readonly owner: string; until: number } | undefined;
  /** The turn that was begun and has not ended: until when the session is its own. */
  current: { readonly turnId: string; until: number } | undefined;
  /** Of the turns that have not ended, by turn id. */
  readonly records: Map<string, { readonly record: MutableRecord; readonly until: number }>;
  /** By turn id, in order of their coming: until when each keeps its place. */
  readonly waiting: Map<string, number>;
  /** Of the turns that have ended last. */
  readonly results: Map<string, TurnResult>;
  usedAt: number;
}

/** Sessions are in the order of their use, but for so much. */
const ORDER_MS = 1_000;
/** So many results of a session are kept. */
const MAX_RESULTS = 64;

/** Sessions and turns in this process, gone with it. */
export function createMemoryTurnStore(options: MemoryTurnStoreOptions = {}): TurnStore {
  return new MemoryTurnStore(options);
}

class MemoryTurnStore implements TurnStore {
  readonly #sessions = new OldestFirstMap<string, Session>();
  readonly #maxSessions: number;
  readonly #sessionKeptMs: number;
  #isClosed = false;

  constructor({ maxSessions = 1_000, sessionKeptMs = SESSION_KEPT_MS }: MemoryTurnStoreOptions) {
    this.#maxSessions = maxSessions;
    this.#sessionKeptMs = sessionKeptMs;
  }

  async take(key: SessionKey, { turnId, owner, leaseMs, maxWaiting, record }: TurnClaim): Promise<TakenTurn> {
    const session = this.#session(key, "take a session");
    const now = performance.now();
    const result = session.results.get(turnId);
    if (result !== undefined) return { state: "ended", result };
    if (session.lease !== undefined && session.lease.until <= now) session.lease = undefined;
    if (session.current !== undefined && session.current.until <= now) session.current = undefined;
    for (const [begun, { until }] of session.records) if (until <= now) session.records.delete(begun);
    for (const [waiting, until] of session.waiting) if (until <= now) session.waiting.delete(waiting);

    if (session.lease?.owner !== owner && !mayTake(session, turnId)) {
      if (!session.waiting.has(turnId) && session.waiting.size >= maxWaiting) return { state: "full", waiting: session.waiting.size };
      session.waiting.set(turnId, now + leaseMs);
      return { state: "waiting", ahead: [...session.waiting.keys()].indexOf(turnId) + (session.lease === undefined ? 0 : 1) };
    }
    if (session.lease?.owner !== owner) session.fence += 1;
    session.waiting.delete(turnId);
    session.lease = { turnId, owner, until: now + leaseMs };
    session.current = { turnId, until: now + TAKE_UP_LEASES * leaseMs };
    const known = copyOf(session.records.get(turnId)?.record);
    if (known === undefined) session.records.set(turnId, { record: copyOf(record), until: now + RECORD_KEPT_MS });
    return { state: "taken", fence: session.fence, record: known, history: [...session.history] };
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
    if (session.lease?.owner === owner) session.lease = undefined;
    else session.waiting.delete(turnId);
  }

  async addAnswer(key: SessionKey, lease: TurnLease, index: number, answer: StoredAnswer): Promise<boolean> {
    const session = this.#session(key, "keep an answer");
    const answers = session.records.get(lease.turnId)?.record.answers;
    if (!holds(session, lease) || answers === undefined) return false;
    if (answers.length === index) answers.push(structuredClone(answer));
    else return JSON.stringify(answers[index]) === JSON.stringify(answer);
    return true;
  }

  async addResult(key: SessionKey, lease: TurnLease, callId: string, result: StoredResult): Promise<boolean> {
    const session = this.#session(key, "keep a result");
    const results = session.records.get(lease.turnId)?.record.results;
    if (!holds(session, lease) || results === undefined) return false;
    if (!results.has(callId)) results.set(callId, { ...result });
    return true;
  }

  async end(key: SessionKey, lease: TurnLease, result: TurnResult, history: readonly HistoryTurn[]): Promise<boolean> {
    const session = this.#session(key, "end a turn");
    const kept = session.results.get(lease.turnId);
    if (kept !== undefined) return JSON.stringify(kept) === JSON.stringify(result);
    if (!holds(session, lease)) return false;
    session.results.set(lease.turnId, structuredClone(result));
    for (const [oldest] of session.results) {
      if (session.results.size <= MAX_RESULTS) break;
      session.results.delete(oldest);
    }
    session.history = [...session.history, ...history].slice(-MAX_HISTORY);
    session.lease = undefined;
    session.current = undefined;
    session.records.delete(lease.turnId);
    return true;
  }

  async history(key: SessionKey): Promise<readonly HistoryTurn[]> {
    return [...this.#session(key, "read a session").history];
  }

  async note(key: SessionKey, entry: HistoryTurn): Promise<void> {
    const session = this.#session(key, "note a message");
    session.history = [...session.history, entry].slice(-MAX_HISTORY);
  }

  async addEvents(key: SessionKey, turnId: string, events: readonly NewEvent[], after: number): Promise<readonly AgentEvent[]> {
    const session = this.#session(key, "keep events");
    session.sequence = Math.max(session.sequence, after);
    const added = events.map((event) => ({ sessionId: key.sessionId, turnId, sequence: ++session.sequence, ...event }));
    const oldest = Date.now() - EVENTS_KEPT_MS;
    session.events.push(...added);
    const firstKept = session.events.findIndex(({ at }) => Date.parse(at) >= oldest);
    session.events.splice(0, Math.max(firstKept, session.events.length - MAX_EVENTS));
    return added;
  }

  async events(key: SessionKey, after: number, limit: number): Promise<EventPage> {
    const session = this.#session(key, "read events");
    const oldest = Date.now() - EVENTS_KEPT_MS;
    const events = session.events.filter(({ sequence, at }) => sequence > after && Date.parse(at) >= oldest).slice(0, limit);
    return { events, last: session.sequence };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
  }

  #session({ caller, sessionId }: SessionKey, what: string): Session {
    if (this.#isClosed) throw new StoreUnavailableError(`Cannot ${what}: the store is closed`);
    const key = JSON.stringify([caller, sessionId]);
    const now = performance.now();
    const known = this.#sessions.get(key);
    const isFresh = known !== undefined && now - known.usedAt < this.#sessionKeptMs;
    const session = isFresh ? known : newSession(known);
    if (isFresh && now - session.usedAt < ORDER_MS) return session; // each look would cost a place in the order
    session.usedAt = now;
    this.#sessions.set(key, session);
    if (this.#sessions.size > this.#maxSessions) this.#dropOldest();
    return session;
  }

  /** Sessions with a turn stay, whatever the bound: as many as turns run. */
  #dropOldest(): void {
    const now = performance.now();
    for (const [key, { lease, waiting }] of this.#sessions) {
      if ((lease !== undefined && lease.until > now) || waiting.size > 0) continue;
      this.#sessions.delete(key);
      return;
    }
  }
}

/** A session that is forgotten goes on counting its events. */
const newSession = (forgotten: Session | undefined): Session => ({
  history: [],
  events: [],
  sequence: forgotten?.sequence ?? 0,
  fence: forgotten?.fence ?? 0,
  lease: undefined,
  current: undefined,
  records: new Map(),
  waiting: new Map(),
  results: new Map(),
  usedAt: 0,
});

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

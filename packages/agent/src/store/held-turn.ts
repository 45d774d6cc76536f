import { randomBytes } from "node:crypto";
import { pause, RenewingLease } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { newId, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ModelUsage } from "@rockbot/llm";
import { StoreUnavailableError } from "@rockbot/records";
import type { FamilySession } from "../words/family-session.ts";
import type { HistoryTurn, SessionKey } from "../words/session.ts";
import type { TurnResult } from "../words/turn.ts";
import { TurnLostError } from "./turn-lost-error.ts";
import type {
  StoredAnswer,
  StoredResult,
  TakenTurn,
  TurnClaim,
  TurnLease,
  TurnRecord,
  TurnStore,
} from "./turn-store.ts";

/** Which turn is to be held, and for how long its asker waits. */
export interface HoldTurnOptions {
  readonly session: SessionKey;
  readonly turnId: string;
  readonly hasReadUntrusted: boolean;
  /** What the session is asked. */
  readonly message?: string | undefined;
  /** Ends the wait for the turns before. */
  readonly signal: AbortSignal;
  /** The deadline on the clock of `performance.now()`. */
  readonly deadline: number;
  readonly leaseMs: number;
  readonly maxWaiting: number;
  /** How long a store that is away is waited for. */
  readonly storePatienceMs: number;
  /**
   * Waits without the place that the turn has among those that run at once: the turn before may need it.
   * @default with it
   */
  readonly withoutPlace?: (<T>(wait: () => Promise<T>) => Promise<T>) | undefined;
  /** Aborts when a turn of the session has ended in this process: then it is worth asking at once. */
  readonly nextEnd: () => AbortSignal;
  readonly log: Logger;
}

/** How often a turn that waits asks again. */
const ASK_MS = 250;

/**
 * Waits until the turn has its session to itself.
 * @returns the turn; or its result, if it has ended before
 * @throws {ToolError} if too many turns wait, the time is over, or the store is away
 */
export async function holdTurn(store: TurnStore, options: HoldTurnOptions): Promise<HeldTurn | TurnResult> {
  const {
    session,
    turnId,
    message,
    signal,
    deadline,
    leaseMs,
    maxWaiting,
    nextEnd,
    withoutPlace = (wait) => wait(),
  } = options;
  const owner = newId();
  const claim = { turnId, owner, leaseMs, maxWaiting, record: newRecord(options.hasReadUntrusted), message };
  /** @returns undefined if the turn has to wait */
  async function take(): Promise<HeldTurn | TurnResult | undefined> {
    signal.throwIfAborted();
    const taken = await patiently(() => store.take(session, claim), options);
    if (taken.state === "taken") return new HeldTurn(store, options, claim, taken);
    if (taken.state === "ended") return taken.result;
    if (taken.state === "full") throw overloaded(taken.waiting);
    if (taken.state === "no room") throw noRoom(taken.most);
    if (performance.now() >= deadline) throw late(taken.ahead);
    return undefined;
  }

  async function wait(): Promise<HeldTurn | TurnResult> {
    for (;;) {
      await pause(
        Math.max(1, Math.min(ASK_MS, leaseMs / 4, deadline - performance.now())),
        AbortSignal.any([signal, nextEnd()]),
      );
      const taken = await take();
      if (taken !== undefined) return taken;
    }
  }

  try {
    return (await take()) ?? (await withoutPlace(wait));
  } catch (error) {
    void store.leave(session, turnId, owner).catch(() => {}); // its place ends by itself
    if (error instanceof StoreUnavailableError) throw storeAway(error);
    throw error;
  }
}

/** A turn that this process runs, with all that is kept of it. It keeps its lease until it ends or is left. */
export class HeldTurn implements AsyncDisposable {
  readonly history: readonly HistoryTurn[];
  readonly nonce: string;
  readonly startedAt: number;
  /** True if another process, or an earlier run, has begun it. */
  readonly isTakenUp: boolean;
  /** How many answers an earlier run has left. */
  readonly #left: number;
  readonly #store: TurnStore;
  readonly #options: HoldTurnOptions;
  readonly #answers: StoredAnswer[];
  readonly #results: Map<string, StoredResult>;
  readonly #lost = new AbortController();
  readonly #renewing: RenewingLease;
  readonly #hasReadUntrusted: boolean;
  #lease: TurnLease;
  #isOver = false;

  constructor(
    store: TurnStore,
    options: HoldTurnOptions,
    { owner, record: own }: TurnClaim,
    taken: TakenTurn & { state: "taken" },
  ) {
    const record = taken.record ?? own;
    this.#store = store;
    this.#options = options;
    this.#lease = { turnId: options.turnId, owner, fence: taken.fence };
    this.history = taken.history;
    this.nonce = record.nonce;
    this.startedAt = record.startedAt;
    this.isTakenUp = record.nonce !== own.nonce; // with its own, the store's answer to the first taking was lost
    this.#hasReadUntrusted = record.hasReadUntrusted;
    this.#answers = [...record.answers];
    this.#left = this.#answers.length;
    this.#results = new Map(record.results);
    this.#renewing = new RenewingLease({ leaseMs: options.leaseMs, renew: () => this.#renew() });
  }

  /** Aborts with a TurnLostError when another process has taken the turn. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** True if an answer or a result has come. */
  get hasBegun(): boolean {
    return this.#answers.length > 0 || this.#results.size > 0;
  }

  get hasReadUntrusted(): boolean {
    return this.#hasReadUntrusted;
  }

  answer(index: number): StoredAnswer | undefined {
    return this.#answers[index];
  }

  /** True if an earlier run may have made the calls of an answer without learning their results. */
  mayHaveCalled(iteration: number): boolean {
    return this.isTakenUp && iteration === this.#left - 1;
  }

  result(callId: string): StoredResult | undefined {
    return this.#results.get(callId);
  }

  /** The tokens that results have cost by now. */
  get usages(): readonly ModelUsage[] {
    return [...this.#results.values()].flatMap(({ usage }) => usage ?? []);
  }

  /** The turns of agents that it has called, and whose results are kept. */
  get children(): readonly FamilySession[] {
    return [...this.#results.values()].flatMap(({ family }) => family ?? []);
  }

  /** Keeps the model's next answer. Once it resolves, any process that takes the turn up goes on from this answer. */
  async addAnswer(answer: StoredAnswer): Promise<void> {
    const index = this.#answers.length;
    await this.#write((lease) => this.#store.addAnswer(this.#options.session, lease, index, answer));
    this.#answers.push(answer);
  }

  /**
   * Keeps the result of a call. The turn does not wait for it: a process that takes the turn up without that result
   * asks for it again, under the call's id.
   */
  addResult(callId: string, result: StoredResult): void {
    this.#results.set(callId, result);
    this.#store.addResult(this.#options.session, this.#lease, callId, result).catch((error: unknown) => {
      this.#options.log.debug({ toolCallId: callId, error: String(error) }, "could not keep the result of a call");
    });
  }

  /**
   * Keeps a result, as `addResult` does, before anything follows from it.
   * @throws {TurnLostError}
   * @throws {StoreUnavailableError} if the store stays away
   */
  async keepResult(callId: string, result: StoredResult): Promise<void> {
    await this.#write((lease) => this.#store.addResult(this.#options.session, lease, callId, result));
    this.#results.set(callId, result);
  }

  /** Keeps the turn's result, and gives the session to the next turn. */
  async end(result: TurnResult, history: readonly HistoryTurn[]): Promise<void> {
    await this.#write((lease) => this.#store.end(this.#options.session, lease, result, history));
    this.#isOver = true;
    void this.#renewing[Symbol.asyncDispose]();
  }

  /** Leaves a turn that has not ended for another process to take up. */
  async [Symbol.asyncDispose](): Promise<void> {
    void this.#renewing[Symbol.asyncDispose]();
    if (this.#isOver) return;
    this.#isOver = true;
    const { session, turnId } = this.#options;
    await this.#store.leave(session, turnId, this.#lease.owner).catch(() => {}); // the lease ends by itself
  }

  /** @throws {TurnLostError} @throws {StoreUnavailableError} if the store stays away */
  async #write(write: (lease: TurnLease) => Promise<boolean>): Promise<void> {
    this.#lost.signal.throwIfAborted();
    if (await patiently(() => write(this.#lease), this.#options)) return;
    await this.#takeAgain();
    if (await patiently(() => write(this.#lease), this.#options)) return;
    throw this.#lose();
  }

  /**
   * A lease that has lapsed, or that the store has lost, is taken again if nobody else has the turn, and has gone on
   * with it. A store that has lost the record, or the last of it, gets it back.
   */
  async #takeAgain(): Promise<void> {
    const { session, turnId, leaseMs, maxWaiting, message } = this.#options;
    const { nonce, startedAt } = this;
    const record = {
      nonce,
      startedAt,
      hasReadUntrusted: this.#hasReadUntrusted,
      answers: this.#answers,
      results: this.#results,
    };
    const claim = { turnId, owner: this.#lease.owner, leaseMs, maxWaiting, record, message };
    const taken = await patiently(() => this.#store.take(session, claim), this.#options);
    if (taken.state !== "taken") throw this.#lose();
    this.#lease = { ...this.#lease, fence: taken.fence };
    const { record: known = record } = taken;
    if (known.nonce !== nonce || known.answers.length > this.#answers.length + 1) throw this.#lose();
    await this.#putBack(known);
  }

  /** A store that was killed may know the beginning of a turn: Redis by default writes its log once a second. */
  async #putBack(known: TurnRecord): Promise<void> {
    const { session } = this.#options;
    for (let i = known.answers.length; i < this.#answers.length; i++) {
      const answer = this.#answers[i] as StoredAnswer;
      if (!(await patiently(() => this.#store.addAnswer(session, this.#lease, i, answer), this.#options)))
        throw this.#lose();
    }
    for (const [callId, result] of this.#results) if (!known.results.has(callId)) this.addResult(callId, result);
  }

  /** A lease that has lapsed is taken again. One that is lost tells by `lost`, at the latest by the next write. */
  async #renew(): Promise<boolean> {
    const { session, leaseMs } = this.#options;
    if (!(await this.#store.renew(session, this.#lease, leaseMs)) && !this.#isOver) await this.#takeAgain();
    return true;
  }

  #lose(): TurnLostError {
    const error = new TurnLostError(`The turn "${this.#options.turnId}" is run by another process`);
    this.#lost.abort(error);
    return error;
  }
}

const newRecord = (hasReadUntrusted: boolean): TurnRecord => ({
  nonce: randomBytes(8).toString("hex"),
  startedAt: Date.now(),
  hasReadUntrusted,
  answers: [],
  results: new Map(),
});

/** Asks again while the store is away. */
async function patiently<T>(
  ask: () => Promise<T>,
  { signal, deadline, storePatienceMs }: Pick<HoldTurnOptions, "signal" | "deadline" | "storePatienceMs">,
): Promise<T> {
  const until = Math.min(performance.now() + storePatienceMs, deadline);
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() + ASK_MS >= until || signal.aborted)
        throw error;
      await pause(ASK_MS, signal);
    }
  }
}

const overloaded = (waiting: number): ToolError =>
  new ToolError(
    ToolErrorCode.Overloaded,
    `The message was not taken: ${waiting} messages of this session wait already. Send it again once one is answered.`,
    {
      retryAfterMs: 5_000,
      details: { reason: "session_queue", mayHaveRun: false },
    },
  );

const noRoom = (most: number): ToolError =>
  new ToolError(
    ToolErrorCode.Overloaded,
    `The message was not taken: the conversations of this caller that are at work have all of the ${most} bytes that one caller may have. Send it again once one is answered.`,
    { retryAfterMs: 5_000, details: { reason: "caller_share", mayHaveRun: false } },
  );

const late = (ahead: number): ToolError =>
  new ToolError(
    ToolErrorCode.Timeout,
    `The message was not answered in time: ${ahead} messages of this session were before it. Send it again later.`,
    {
      details: { mayHaveRun: false },
    },
  );

const storeAway = (cause: StoreUnavailableError): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    "The message was not taken: the store of conversations is away. Send it again later.",
    {
      cause,
      details: { mayHaveRun: false },
    },
  );

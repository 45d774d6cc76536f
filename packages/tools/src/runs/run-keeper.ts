import type { KeyObject } from "node:crypto";
import { pause } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import {
  createEnvelope,
  type Envelope,
  Header,
  Keep,
  newId,
  ToolError,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import {
  type Answer,
  type Approval,
  AUDIT_MS,
  asksCaller,
  END_KEPT_MS,
  hearsNow,
  MAX_ASKED_BYTES,
  MAX_END_BYTES,
  MAX_RUN_BYTES,
  type Question,
  RUN_MS,
  type Run,
  type RunEnd,
  type RunKey,
  type RunMessage,
  RunState,
  type RunStore,
  Runs,
  type SignedDecision,
  type StoredRun,
  type Waiter,
} from "@rockbot/runs";
import type { Arrival, ToolContext } from "../define/tool-executor.ts";
import { hashRequest } from "../messages/hash-request.ts";
import { decodeReply, encodeReply } from "../messages/reply.ts";
import { ParkedError } from "../superseded-error.ts";
import { HeldRun } from "./held-run.ts";
import { callerGone, cancelledRun, notKept, pending, rejected, undecided, unserved } from "./run-errors.ts";

/** The claims of calls, as far as runs use them: see CallClaims. */
interface RunClaims {
  occupy(
    call: CallKey,
    run: Pick<Run, "runId" | "requestHash" | "toolName"> & { readonly forMs: number },
  ): Promise<"ours" | "run" | "call">;
  vacate(call: CallKey, run: Pick<Run, "runId" | "requestHash">): Promise<void>;
}

type CallKey = Pick<RunKey, "caller" | "toolCallId">;
type Reply = ToolInvokeResponse | ToolError;

/** A call that is parked: what its record has of it. */
export interface ParkedCall extends Pick<Run, "caller" | "operator" | "toolName" | "toolCallId" | "requestHash"> {
  /** How long its caller waits, in milliseconds. */
  readonly leftMs: number;
  /** How long the run may wait for people. */
  readonly forMs: number;
  /** The question to operators. A call that has neither question runs detached. */
  readonly approval?: Approval | undefined;
  readonly question?: Question | undefined;
  /** What its tool, which runs already, goes on from. */
  readonly handle?: string | undefined;
  /** The claim of the call is the record's already. */
  readonly isClaimed?: boolean | undefined;
}

export interface RunKeeperOptions {
  readonly service: string;
  readonly store: RunStore;
  readonly claims: RunClaims;
  /** The public half of the key of the operators' door. @default no decision counts */
  readonly operatorKey: KeyObject | undefined;
  /** How many runs this process has at once. */
  readonly concurrency: number;
  /** Brings a run through the layers. Resolves once its end is noted, or it is left to others. */
  readonly execute: (held: HeldRun, now: number, signal: AbortSignal) => Promise<void>;
  /** Sends the answer of a run to a caller that waits for it. Resolves once the bus has it. */
  readonly answer: (run: Run, address: Arrival["address"], reply: Reply, leftMs: number) => Promise<void>;
  /** Writes the line of a run that ended without its tool. */
  readonly audit: (run: Run, end: Reply) => Promise<void>;
  /** Ends what the handle of a run names, which has ended without its tool. */
  readonly drop: (run: Run) => Promise<void>;
  readonly drainMs: number;
  readonly log: Logger;
}

/** All runs of a service are looked at so often, also those that another instance has left. */
const SWEEP_MS = 5_000;
/** Runs that wait for a free place here are looked at again after this time. */
const BUSY_MS = 500;
const MAX_SWEPT = 200;
/** The part of the runs at once that one caller may have: others find a place, however long its runs take. */
const SHARE_PART = 0.75;
/** Two deliveries of one call may park it at once: the later one looks so often, so many times. */
const PARKING_MS = 20;
const ATTEMPTS = 25;
/** A call stays a run's until its run is forgotten. */
const KEPT_MS = RUN_MS + END_KEPT_MS;
/** A caller hears that its call waits so long before its own deadline, or a fifth of its time. */
const TELL_BEFORE_MS = 1_000;

/**
 * The runs of one service in this process: parks calls, runs those that are ready, ends those whose time is over, and
 * tells their callers. The record of a run is its place in the queue: there is no message for it. So a decision and
 * the run that follows from it cannot part, and a service needs no right to publish calls. Every instance looks at the
 * runs of all, and the store lets one of them have each.
 */
export class RunKeeper implements AsyncDisposable {
  readonly #options: RunKeeperOptions;
  readonly #owner = newId();
  readonly #runs: Runs;
  readonly #stop = new AbortController();
  /** Ends the runs that outlast the drain. */
  readonly #kill = new AbortController();
  /** By run. */
  readonly #executing = new Map<string, { readonly caller: string; readonly end: Promise<void> }>();
  readonly #looking = new Set<string>();
  #wake: (() => void) | undefined;
  #isKicked = false;
  readonly #sweeping: Promise<void>;

  constructor(options: RunKeeperOptions) {
    this.#options = options;
    this.#runs = new Runs(options.store);
    this.#sweeping = this.#sweepAll();
  }

  get operatorKey(): KeyObject | undefined {
    return this.#options.operatorKey;
  }

  /**
   * Writes the record of a call, or joins the one that is there. From then on the record answers for the call.
   * @returns `call` if it was taken before without a record, and is not to be parked; `gone` if it had a record
   * @throws {ParkedError} once the record is there
   * @throws {StoreUnavailableError} if the store does not take it
   */
  async park(call: ParkedCall, { message, address }: Arrival): Promise<"call" | "conflict" | "gone"> {
    const { service, store } = this.#options;
    if (message.body.byteLength > MAX_RUN_BYTES)
      throw new StoreUnavailableError(`A call that waits has at most ${MAX_RUN_BYTES} bytes`);
    const { leftMs: _, forMs, handle, isClaimed = false, ...known } = call;
    const now = await store.now();
    const waits = call.approval !== undefined || call.question !== undefined;
    const waiter = waiterOf(call, { message, address }, now);
    // One with a handle runs, and its owner is gone: who takes it up goes on from there.
    const begun = handle === undefined ? {} : { handle: { text: handle, at: now }, lease: { owner: "", until: now } };
    const run: Run = {
      ...known,
      ...begun,
      service,
      runId: newId(),
      message: recorded(message),
      state: handle !== undefined ? RunState.Running : waits ? RunState.Parked : RunState.Ready,
      readyAt: waits || handle !== undefined ? undefined : now,
      isKept: isKeptBy(message) || asksCaller({ message: recorded(message), question: call.question }),
      waiters: [waiter],
      createdAt: now,
      expiresAt: now + forMs,
      attempt: 0,
      hasStarted: handle !== undefined,
    };
    const outcome = await this.#createOrJoin(run, waiter, isClaimed);
    if (outcome !== "parked") return outcome;
    this.kick();
    throw new ParkedError(`The record ${run.runId} answers for the call ${call.toolCallId}`);
  }

  /**
   * Joins the record of a call that another delivery has left there.
   * @throws {ParkedError} once the record is known to answer for it
   * @returns `none` if there is no record
   */
  async join(call: ParkedCall, { message, address }: Arrival): Promise<"none" | "conflict"> {
    const { service, store } = this.#options;
    const waiter = waiterOf(call, { message, address }, await store.now());
    const joined = await this.#join({ ...call, service }, waiter, isKeptBy(message));
    if (joined !== "joined") return joined;
    this.kick();
    throw new ParkedError(`A record answers for the call ${call.toolCallId}`);
  }

  /** Tells whether a message asks for a call that has a record. */
  async has(
    request: ToolInvokeRequest,
    { caller, arrival }: Pick<ToolContext, "caller" | "arrival">,
  ): Promise<boolean> {
    if (arrival?.message.headers[Header.Keep] === undefined) return false;
    const { service, store } = this.#options;
    const known = await store.read({ service, caller, toolCallId: request.toolCallId }).catch(() => undefined);
    return known?.run.requestHash === hashRequest(request);
  }

  async #join(
    call: RunKey & Pick<Run, "requestHash">,
    waiter: Waiter,
    isKept: boolean,
  ): Promise<"joined" | "none" | "conflict"> {
    const known = await this.#options.store.read(call);
    if (known === undefined) return "none";
    if (known.run.requestHash !== call.requestHash) return "conflict";
    await this.#runs.change(call, { kind: "joined", waiter, isKept });
    return "joined";
  }

  async #createOrJoin(run: Run, waiter: Waiter, isClaimed: boolean): Promise<"parked" | "call" | "conflict" | "gone"> {
    const { store, claims } = this.#options;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const joined = await this.#join(run, waiter, run.isKept);
      if (joined !== "none") return joined === "joined" ? "parked" : joined;
      const held = isClaimed
        ? "ours"
        : await claims.occupy(run, { ...run, forMs: run.expiresAt - run.createdAt + KEPT_MS });
      if (held === "call") return "call";
      if (held === "ours") {
        try {
          if (await store.create(run)) return "parked";
        } catch (error) {
          await claims.vacate(run, run).catch(() => {});
          throw error;
        }
      }
      await pause(PARKING_MS); // another delivery of the call is parking it
    }
    return "gone";
  }

  /** Looks at the runs now. */
  kick(): void {
    this.#isKicked = true;
    this.#wake?.();
  }

  /** Ends a run that waits. One that runs is cancelled where it runs. */
  async cancel(call: CallKey, reason: string): Promise<void> {
    const key = { service: this.#options.service, ...call };
    const stored = await this.#options.store.read(key);
    if (stored === undefined) return;
    const { run, now } = stored;
    await this.#endUnrun(run, cancelledRun(run, reason), now, "cancelled");
  }

  /** Notes the answer of an operator, or of the person behind the caller. @returns the run, or why not, in words */
  async answer(call: CallKey, answer: Answer, isOfCaller = false): Promise<Run | string> {
    if (JSON.stringify(answer.value).length > MAX_ASKED_BYTES)
      return `it has more than ${MAX_ASKED_BYTES} characters as JSON`;
    const key = { service: this.#options.service, ...call };
    const stored = isOfCaller ? await this.#options.store.read(key) : undefined;
    if (stored !== undefined && !asksCaller(stored.run)) return "it asks nothing that its caller answers";
    const run = await this.#runs.change(key, { kind: "answered", answer });
    this.kick();
    return run;
  }

  /** Notes an operator's decision. @returns how the run stands, or why the decision does not count, in words */
  async decide(call: CallKey, decision: SignedDecision): Promise<Run | string> {
    const { service, operatorKey: key } = this.#options;
    if (key === undefined) return `"${service}" knows no key of operators`;
    const run = await this.#runs.decide({ service, ...call }, decision, {
      key,
      rejected: (decided, note) => endOf(decided, rejected(decided, note), 0),
    });
    if (typeof run !== "string" && run.state === RunState.Ended) await this.#audit(run);
    this.kick();
    return run;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#sweeping;
    const drain = setTimeout(() => this.#kill.abort(new Error("the service stops")), this.#options.drainMs);
    await Promise.allSettled([...this.#executing.values()].map(({ end }) => end));
    clearTimeout(drain);
  }

  async #sweepAll(): Promise<void> {
    const { service, store, log } = this.#options;
    let isAway = false;
    while (!this.#stop.signal.aborted) {
      this.#isKicked = false;
      let delayMs = SWEEP_MS;
      try {
        const { runs, nextMs } = await store.due(service, MAX_SWEPT);
        const areBusy = await Promise.all(runs.map((stored) => this.#look(stored)));
        delayMs = Math.min(SWEEP_MS, nextMs ?? SWEEP_MS);
        if (runs.length > 0) delayMs = Math.min(delayMs, BUSY_MS);
        if (areBusy.includes(true)) delayMs = BUSY_MS;
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ service, error: String(error) }, "could not look at the calls that wait");
        isAway = true;
      }
      if (this.#isKicked || this.#stop.signal.aborted) continue;
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await pause(Math.max(1, delayMs), woken.signal).catch(() => {}); // woken
      this.#wake = undefined;
    }
  }

  /** Does what is due of a run. @returns true if it waits for a place here */
  async #look(stored: StoredRun): Promise<boolean> {
    const { run } = stored;
    if (this.#looking.has(run.runId)) return false;
    this.#looking.add(run.runId);
    const warn = (error: unknown): false => {
      this.#options.log.warn({ runId: run.runId, error: String(error) }, "could not bring a call that waits further");
      return false;
    };
    try {
      // It is over when it is over, also where nobody can be told.
      const told = await this.#tell(stored).catch(warn);
      return await this.#advance({ run: told === false ? run : told, now: stored.now });
    } catch (error) {
      return warn(error);
    } finally {
      this.#looking.delete(run.runId);
    }
  }

  /**
   * Tells the callers that wait how the run has ended, or shortly before they leave, how it stands.
   * @returns the run after it
   */
  async #tell({ run, now }: StoredRun): Promise<Run> {
    const isEnded = run.state === RunState.Ended;
    const goesOn = run.state === RunState.Running && !run.isKept;
    const isDue = (waiter: Waiter): boolean => isEnded || (waiter.tellAt <= now && !goesOn) || hearsNow(run, waiter);
    const due = run.waiters.filter(isDue);
    if (due.length === 0) return run;
    const told = () => this.#runs.change(run, { kind: "told", waiters: due });
    // "Nothing will be run" is said once nobody can run it any more.
    const before = isEnded || run.isKept ? undefined : await told();
    if (typeof before === "string") return run; // it runs by now
    const reply = isEnded ? replyOf(run) : pending(run);
    for (const waiter of due) {
      const { topic, correlationId, blob, until } = waiter;
      if (until > now) await this.#options.answer(run, { topic, correlationId, blob }, reply, until - now);
    }
    const after = before ?? (await told());
    if (!isEnded && !run.isKept) this.kick(); // nobody may wait for it any more
    return typeof after === "string" ? run : after;
  }

  async #advance({ run, now }: Pick<StoredRun, "run" | "now">): Promise<boolean> {
    switch (run.state) {
      case RunState.Parked:
        if (run.expiresAt <= now) await this.#endUnrun(run, undecided(run), now, "expired");
        else if (!run.isKept && run.waiters.length === 0) await this.#endUnrun(run, callerGone(run), now, "withdrawn");
        return false;
      case RunState.Ready:
        if (!run.isKept && run.waiters.every(({ until }) => until <= now)) {
          await this.#runs.change(run, { kind: "told", waiters: run.waiters });
          await this.#endUnrun(run, callerGone(run), now, "withdrawn");
          return false;
        }
        if ((run.readyAt ?? 0) > now) return false; // its tool waits until then
        if (await this.#endUnrun(run, unserved(run), now, "unserved")) return false;
        return this.#begin(run, now);
      case RunState.Running:
        return (run.lease?.until ?? 0) <= now ? this.#begin(run, now) : false;
      case RunState.Ended:
        if (run.isAudited === false && now >= (run.end?.at ?? 0) + AUDIT_MS) await this.#audit(run);
        return false;
    }
  }

  /** @returns true if there is no place for it */
  #begin(run: Run, now: number): boolean {
    const { concurrency, execute, log } = this.#options;
    if (this.#executing.has(run.runId)) return false;
    const ofCaller = [...this.#executing.values()].filter(({ caller }) => caller === run.caller).length;
    const isFull = this.#executing.size >= concurrency || ofCaller >= Math.max(1, Math.floor(SHARE_PART * concurrency));
    if (isFull || this.#stop.signal.aborted) return true;
    const held = new HeldRun(this.#runs, run, this.#owner);
    const end = (async () => {
      try {
        await execute(held, now, this.#kill.signal);
      } catch (error) {
        log.warn({ runId: run.runId, error: String(error) }, "a call that had waited was left");
      }
      await held.stop();
      this.#executing.delete(run.runId);
      // One that was left as it was, or given back, is looked at with the others after a while: at once would be for ever.
      if (held.run !== run && held.run.state !== RunState.Ready) this.kick();
    })();
    this.#executing.set(run.runId, { caller: run.caller, end });
    return false;
  }

  /** @returns false if the run cannot end so now */
  async #endUnrun(
    run: Run,
    error: ToolError,
    now: number,
    kind: "expired" | "withdrawn" | "cancelled" | "unserved",
  ): Promise<boolean> {
    const ended = await this.#runs.change(run, { kind, end: endOf(run, error, now) });
    if (typeof ended === "string") return false;
    const { drop, log } = this.#options;
    if (run.handle !== undefined)
      void drop(run).catch((cause: unknown) =>
        log.warn(
          { runId: run.runId, error: String(cause) },
          "could not end what a call that waited had begun elsewhere",
        ),
      );
    await this.#audit(ended);
    this.kick();
    return true;
  }

  /** Writes the line of an end. A process that dies before that is noted leaves it to others, so there may be two. */
  async #audit(run: Run): Promise<void> {
    await this.#options.audit(run, replyOf(run));
    await this.#runs.change(run, { kind: "audited" }).catch(() => {}); // it is written again
  }
}

/** How a call ended, for its record. */
export function endOf(run: Pick<Run, "toolCallId" | "toolName">, reply: Reply, at: number): RunEnd {
  const { type, body } = encodeReply(run, reply);
  const code = "code" in reply ? reply.code : reply.isError === true ? "tool_error" : "ok";
  if (body.byteLength > MAX_END_BYTES) return { code, at };
  return { code, at, reply: { type, body: Buffer.from(body).toString("base64") } };
}

function waiterOf({ leftMs }: ParkedCall, { message, address }: Arrival, now: number): Waiter {
  const { [Header.Keep]: keep, [Header.Asks]: asks } = message.headers;
  const tellAt = keep === Keep.Detached ? now : now + leftMs - Math.min(TELL_BEFORE_MS, Math.ceil(leftMs / 5));
  const hears = keep === Keep.Told ? "parked" : asks === undefined ? undefined : "question";
  return { ...address, tellAt, hears, until: now + leftMs };
}

function isKeptBy({ headers }: Envelope): boolean {
  const keep = headers[Header.Keep];
  return keep === Keep.IfParked || keep === Keep.Told || keep === Keep.Detached;
}

/** The answer of a run that has ended. An error says by the run's id that it is the end, and not of the way there. */
export function replyOf(run: Run): Reply {
  const { reply } = run.end ?? {};
  const end =
    (reply === undefined ? undefined : decodeReply(Buffer.from(reply.body, "base64"), reply.type)) ?? notKept(run);
  if (!(end instanceof ToolError)) return end;
  const { code, message, details } = end;
  return new ToolError(code, message, { ...end, details: { ...details, runId: run.runId } });
}

function recorded({ topic, messageId, type, source, userId, timestamp, headers, body }: Envelope): RunMessage {
  return { topic, messageId, type, source, userId, timestamp, headers, body: Buffer.from(body).toString("base64") };
}

/** The message of a run, as it came. */
export const messageOf = ({ message }: Run): Envelope =>
  createEnvelope({ ...message, body: Buffer.from(message.body, "base64") });

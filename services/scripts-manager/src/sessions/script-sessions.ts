import type { Logger } from "@rockbot/bus";
import { type ContentTrust, counted, visibleText } from "@rockbot/contracts";
import type { LeaseStore } from "@rockbot/records/leases";
import { type Interpreter, ScriptLimit, type ScriptMessages, type ScriptOutcome } from "@rockbot/sandbox";
import {
  type CellLine,
  endedWithSession,
  noRoomForSession,
  packagesTooLate,
  sessionBusy,
  sessionGone,
  type ToldSession,
  tooManySessions,
} from "./script-session-errors.ts";
import { type SharedFacts, SharedSessions } from "./shared-sessions.ts";

/** How many sessions there are, and how long. */
export interface SessionBounds {
  readonly sessionsPerCaller: number;
  /** The most sessions of all callers together. */
  readonly maxSessions: number;
  readonly sessionIdleSeconds: number;
  readonly sessionSeconds: number;
}

/** A session, as its own caller sees it. */
export interface SessionFacts extends ToldSession {
  readonly state: "idle" | "busy" | "over";
  /** Unix milliseconds. */
  readonly begunAt: number;
  readonly usedAt: number;
  readonly cells: number;
  /** Why it is over. */
  readonly why: string | undefined;
}

/** The last cells that a session remembers, and how much of each. */
const LINES = 5;
const LINE_CHARACTERS = 80;
/** So many sessions that are over are remembered, of one caller and of all. */
const OVER_PER_CALLER = 8;
const OVER = 1_000;

/**
 * The sessions of this process: each an interpreter that lasts, for one effective caller under a name of its own. One that
 * is over is remembered until its caller ends it, so that its name never begins anew in silence.
 */
export class ScriptSessions implements AsyncDisposable {
  readonly #bounds: SessionBounds;
  readonly #log: Logger;
  readonly #shared: SharedSessions | undefined;
  readonly #sessions = new Map<string, Session>();

  /** @param leases shared by all processes that serve scripts: without them, each knows its own sessions alone */
  constructor(
    bounds: SessionBounds,
    { leases, log }: { readonly leases?: LeaseStore | undefined; readonly log: Logger },
  ) {
    this.#bounds = bounds;
    this.#log = log;
    this.#shared = leases === undefined ? undefined : new SharedSessions(leases, { log });
  }

  /**
   * Takes a session for one cell. One that is new has no interpreter yet.
   * @throws {ToolError} if it is over, runs a cell, is in another process, or there may be no further one
   */
  async take(caller: string, name: string): Promise<Session> {
    const key = keyOf(caller, name);
    const found = this.#sessions.get(key);
    if (found !== undefined) {
      found.take();
      return found;
    }
    const { sessionsPerCaller, maxSessions } = this.#bounds;
    const live = [...this.#sessions.values()].filter(({ isOver }) => !isOver);
    const own = live.filter((session) => session.caller === caller);
    if (own.length >= sessionsPerCaller)
      throw tooManySessions(
        own.map((session) => session.name),
        sessionsPerCaller,
      );
    if (live.length >= maxSessions) throw noRoomForSession(maxSessions);
    const session = this.#create(caller, name);
    session.take();
    const onLost = (): void => void session.end("its service did not reach its store, and another one took its name");
    const left = await this.#shared?.take(caller, name, onLost).catch((error: unknown) => {
      this.#sessions.delete(key);
      throw error;
    });
    if (left === undefined) return session;
    session.remember(left);
    this.#forget(caller);
    const facts = session.facts();
    throw sessionGone(facts, facts.why ?? "");
  }

  /** The sessions of a caller, the oldest first. */
  list(caller: string): readonly SessionFacts[] {
    return [...this.#sessions.values()]
      .filter((session) => session.caller === caller)
      .map((session) => session.facts());
  }

  /**
   * Ends a session, and what it runs. Its name is free then.
   * @returns undefined if there is none
   * @throws {ToolError} if it is in another process
   */
  async end(caller: string, name: string): Promise<SessionFacts | undefined> {
    const key = keyOf(caller, name);
    const session = this.#sessions.get(key) ?? (await this.#leftOf(caller, name));
    const facts = session?.facts();
    await session?.end("its caller has ended it");
    if (this.#sessions.get(key) === session) this.#sessions.delete(key); // else the name has begun anew
    await this.#shared?.free(caller, name);
    return facts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.end("the service was stopped")));
    await this.#shared?.[Symbol.asyncDispose]();
  }

  /** What another process has left of a session. */
  async #leftOf(caller: string, name: string): Promise<Session | undefined> {
    const left = await this.#shared?.take(caller, name);
    if (left === undefined) return undefined;
    const session = this.#create(caller, name);
    session.remember(left);
    return session;
  }

  #create(caller: string, name: string): Session {
    const key = keyOf(caller, name);
    const session = new Session({ caller, name }, this.#bounds, {
      onCell: (facts) => void this.#shared?.tell(caller, name, facts),
      onOver: (facts) => {
        this.#log.info({ caller, session: name, why: facts.why }, "a session of scripts is over");
        void this.#shared?.tell(caller, name, facts);
        this.#forget(caller);
      },
      onUnused: () => {
        this.#sessions.delete(key);
        void this.#shared?.free(caller, name);
      },
    });
    this.#sessions.set(key, session);
    return session;
  }

  #forget(caller: string): void {
    const over = [...this.#sessions].filter(([, { isOver }]) => isOver);
    const own = over.filter(([, session]) => session.caller === caller);
    const [oldest] = own.length > OVER_PER_CALLER ? own : over.length > OVER ? over : [];
    if (oldest !== undefined) this.#sessions.delete(oldest[0]);
  }
}

/** Hears of a session. */
interface SessionListener {
  onCell(facts: SessionFacts): void;
  onOver(facts: SessionFacts): void;
  /** It has never begun. */
  onUnused(): void;
}

/** One session. */
export class Session {
  readonly caller: string;
  readonly name: string;
  /** Untrusted content has come into it, from there. */
  trust: ContentTrust | undefined;
  /** Its interpreter has the module `rockbot`. */
  hasModule = false;
  /** Takes what its cell says to tools, while one runs. */
  onMessage: ScriptMessages["onMessage"] | undefined;
  readonly #bounds: SessionBounds;
  readonly #listener: SessionListener;
  readonly #ending = new AbortController();
  readonly #lines: CellLine[] = [];
  #begunAt = Date.now();
  #usedAt = Date.now();
  #interpreter: Interpreter | undefined;
  #packages: string | undefined;
  #pinned: readonly string[] = [];
  #cells = 0;
  #isBusy = false;
  /** Its cell has gone to the interpreter. */
  #isRunning = false;
  /** How its interpreter ended. */
  #ended: ScriptOutcome | Error | undefined;
  #why: string | undefined;
  #idle: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;

  constructor(
    { caller, name }: { readonly caller: string; readonly name: string },
    bounds: SessionBounds,
    listener: SessionListener,
  ) {
    this.caller = caller;
    this.name = name;
    this.#bounds = bounds;
    this.#listener = listener;
  }

  get isOver(): boolean {
    return this.#why !== undefined;
  }

  /** Ends its interpreter. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** How long it may be there in all. */
  get lastsMs(): number {
    return this.#bounds.sessionSeconds * 1_000;
  }

  /** Undefined before its first cell. */
  get interpreter(): Interpreter | undefined {
    return this.#interpreter;
  }

  /** What was installed for it. */
  get pinned(): readonly string[] {
    return this.#pinned;
  }

  take(): void {
    if (this.#why !== undefined) throw sessionGone(this.facts(), this.#why);
    if (this.#isBusy) throw sessionBusy(this.facts());
    this.#isBusy = true;
    clearTimeout(this.#idle);
  }

  /** @throws {ToolError} if a later cell asks for packages that the session has not begun with */
  checkPackages(packages: readonly string[]): void {
    if (this.#interpreter === undefined || packages.length === 0 || JSON.stringify(packages) === this.#packages) return;
    throw packagesTooLate(this.name);
  }

  /** Has the interpreter that was opened for its first cell. */
  has(interpreter: Interpreter, packages: readonly string[], pinned: readonly string[]): void {
    this.#interpreter = interpreter;
    this.#pinned = pinned;
    this.#packages = JSON.stringify(packages);
    this.#end = setTimeout(() => void this.end(`its ${inWords(this.#bounds.sessionSeconds)} were over`), this.lastsMs);
    void interpreter.over.then((end) => {
      this.#ended = end;
      if (!this.#isBusy) this.over(whyOf(end)); // else its cell says more
    });
  }

  /** Notes that a cell goes to the interpreter. */
  begins(source: string): void {
    this.#cells++;
    this.#isRunning = true;
    const line = source.split("\n").find((one) => one.trim() !== "") ?? "";
    this.#lines.push({ cell: this.#cells, line: visibleText(line.slice(0, LINE_CHARACTERS)) });
    if (this.#lines.length > LINES) this.#lines.shift();
    this.#listener.onCell(this.facts());
  }

  /** Is what another process has left, which is over. */
  remember({ begunAt, cells, lines, trust, why = "the service that had it is gone" }: SharedFacts): void {
    this.#begunAt = begunAt;
    this.#cells = cells;
    this.#lines.push(...lines);
    this.trust = trust;
    this.#why = why;
  }

  /** Lets others use it. One whose interpreter never came is no session. */
  giveBack(): void {
    this.#isBusy = false;
    this.#isRunning = false;
    this.#usedAt = Date.now();
    if (this.#ended !== undefined) this.over(whyOf(this.#ended));
    if (this.#why !== undefined) return;
    if (this.#interpreter === undefined) {
      this.#listener.onUnused();
      return;
    }
    const { sessionIdleSeconds } = this.#bounds;
    this.#idle = setTimeout(
      () => void this.end(`nobody used it for ${inWords(sessionIdleSeconds)}`),
      sessionIdleSeconds * 1_000,
    );
  }

  /** Its interpreter is over. The first reason counts. */
  over(why: string): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    clearTimeout(this.#idle);
    clearTimeout(this.#end);
    this.#listener.onOver(this.facts());
  }

  /** Ends it with all that it runs. Resolves once nothing of it runs any more. */
  async end(why: string): Promise<void> {
    this.over(why);
    this.#ending.abort((this.#isRunning ? endedWithSession : sessionGone)(this.facts(), why));
    await this.#interpreter?.over;
  }

  facts(): SessionFacts {
    const state = this.#why !== undefined ? "over" : this.#isBusy ? "busy" : "idle";
    return {
      name: this.name,
      state,
      begunAt: this.#begunAt,
      usedAt: this.#usedAt,
      cells: this.#cells,
      lines: [...this.#lines],
      trust: this.trust,
      why: this.#why,
    };
  }
}

const keyOf = (caller: string, name: string): string => JSON.stringify([caller, name]);

const inWords = (seconds: number): string => (seconds % 60 === 0 ? counted(seconds / 60, "minute") : `${seconds} s`);

function whyOf(end: ScriptOutcome | Error): string {
  if (end instanceof Error) return `its sandbox ended: ${end.message.replace(/\.$/, "")}`;
  if (end.limit === ScriptLimit.Memory) return "it used more memory than it may";
  if (end.limit === ScriptLimit.Processes) return "it started more processes or threads than it may";
  if (end.limit === ScriptLimit.Time) return "its time was over";
  return end.exitCode === null
    ? `its interpreter was ended by ${end.signal ?? "a signal"}`
    : `its interpreter ended with exit code ${end.exitCode}`;
}

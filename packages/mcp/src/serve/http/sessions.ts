import { randomUUID } from "node:crypto";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { Session } from "./session.ts";

/** How many sessions an endpoint keeps, and for how long. */
export interface SessionLimits {
  /** The bound for all callers together. @default 1024 */
  readonly maxSessions?: number | undefined;
  /** One more ends the longest idle one of the same caller. @default 64 */
  readonly maxSessionsPerCaller?: number | undefined;
  /** A session in which nothing runs, and in which nobody listens, ends after this. @default 30 minutes */
  readonly sessionIdleMs?: number | undefined;
  /** Milliseconds that only grow. @default performance.now */
  readonly clock?: (() => number) | undefined;
}

const MAX_SWEEP_MS = 60_000;
const RETRY_AFTER_MS = 1_000;

/** The sessions of clients of the older era, in this process. */
export class Sessions implements Disposable {
  readonly #sessions = new Map<string, Session>();
  readonly #limits: Required<{ [Key in keyof SessionLimits]: NonNullable<SessionLimits[Key]> }>;
  readonly #sweep: NodeJS.Timeout;

  constructor({
    maxSessions = 1_024,
    maxSessionsPerCaller = 64,
    sessionIdleMs = 30 * 60_000,
    clock = () => performance.now(),
  }: SessionLimits = {}) {
    this.#limits = { maxSessions, maxSessionsPerCaller, sessionIdleMs, clock };
    this.#sweep = setInterval(() => this.#endIdle(), Math.min(MAX_SWEEP_MS, sessionIdleMs / 2)).unref();
  }

  get all(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  /** What holds for the sessions of one caller. */
  get bounds(): { readonly maxPerCaller: number; readonly idleMs: number } {
    return { maxPerCaller: this.#limits.maxSessionsPerCaller, idleMs: this.#limits.sessionIdleMs };
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The number of sessions in which somebody listens for changes. */
  get listening(): number {
    return [...this.#sessions.values()].filter(({ isListening }) => isListening).length;
  }

  /**
   * @param id that of a session which another process has opened
   * @throws {ToolError} `overloaded` if there are too many, and none of the caller's can be spared
   */
  open(caller: string | undefined, id: string = randomUUID()): Session {
    const { maxSessions, maxSessionsPerCaller, clock } = this.#limits;
    const own = [...this.#sessions.values()].filter((session) => session.caller === caller);
    if (own.length >= maxSessionsPerCaller) {
      const spared = own.filter(({ isRunning }) => !isRunning).sort((a, b) => b.idleMs - a.idleMs)[0];
      if (spared === undefined) throw tooMany(`${own.length} of your sessions have calls running`);
      this.#end(spared);
    } else if (this.#sessions.size >= maxSessions) {
      this.#endIdle();
      if (this.#sessions.size >= maxSessions) throw tooMany(`${maxSessions} sessions are open`);
    }
    const session = new Session(id, caller, clock);
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session if it is the caller's; that of another is as if there were none. */
  find(id: string, caller: string | undefined): Session | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.caller !== caller) return undefined;
    session.use();
    return session;
  }

  end(session: Session): void {
    this.#end(session);
  }

  tell(): void {
    for (const session of this.#sessions.values()) session.tell();
  }

  stopListening(): void {
    for (const session of this.#sessions.values()) session.stopListening();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep);
    for (const session of [...this.#sessions.values()]) this.#end(session);
  }

  #end(session: Session): void {
    this.#sessions.delete(session.id);
    session.end();
  }

  #endIdle(): void {
    for (const session of [...this.#sessions.values()])
      if (session.idleMs >= this.#limits.sessionIdleMs) this.#end(session);
  }
}

const tooMany = (why: string): ToolError =>
  new ToolError(
    ToolErrorCode.Overloaded,
    `Cannot open a session: ${why}, the most there may be. End one with DELETE, or try again later`,
    {
      retryAfterMs: RETRY_AFTER_MS,
    },
  );

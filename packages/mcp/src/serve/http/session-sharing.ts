import type { RequestId } from "@modelcontextprotocol/server";
import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import type { SharedSessions } from "./shared-sessions.ts";

/** How soon a request is cancelled whose client has told another endpoint. */
const LOOK_MS = 1_000;
/** How often a session in which something runs, or somebody listens, counts as used: in looks. */
const RENEW_EACH = 60;

/**
 * The sessions of an endpoint, and those that other endpoints have opened in the same store: any endpoint answers any
 * of them. What runs, and who listens, is known here only. While the store is away an endpoint answers the sessions
 * that it knows.
 */
export class SessionSharing implements AsyncDisposable {
  readonly #sessions: Sessions;
  readonly #shared: SharedSessions | undefined;
  readonly #log: Logger;
  readonly #looks: AsyncDisposable | undefined;
  #count = 0;

  constructor(
    sessions: Sessions,
    { shared, log }: { readonly shared: SharedSessions | undefined; readonly log: Logger },
  ) {
    this.#sessions = sessions;
    this.#shared = shared;
    this.#log = log;
    this.#looks =
      shared === undefined
        ? undefined
        : startLoop(LOOK_MS, () => this.#look(shared).catch((error: unknown) => this.#failed(error)));
  }

  /**
   * Tells the other endpoints of a new session. An endpoint that cannot be reached now learns of it when the session is
   * used next.
   */
  async note(session: Session): Promise<void> {
    if (this.#shared === undefined) return;
    session.isNoted = await this.#shared
      .use(session.caller, session.id, { ...this.#sessions.bounds, isNew: true })
      .catch(() => false);
  }

  /**
   * The session if it is the caller's, wherever it was opened.
   * @throws {ToolError} `unavailable` if that cannot be known now
   */
  async find(id: string, caller: string | undefined): Promise<Session | undefined> {
    const here = this.#sessions.find(id, caller);
    if (this.#shared === undefined) return here;
    if (here !== undefined && !here.isNoted) {
      await this.note(here);
      return here;
    }
    const isThere = await this.#shared.use(caller, id, this.#sessions.bounds).catch(() => undefined);
    if (isThere === undefined && here === undefined)
      throw away("answer the request: its session cannot be looked up now. Nothing was run");
    if (isThere === false && here?.isRunning !== true) {
      if (here !== undefined) this.#sessions.end(here);
      return undefined;
    }
    return this.#sessions.find(id, caller) ?? (isThere === true ? this.#sessions.open(caller, id) : undefined);
  }

  async end(session: Session): Promise<void> {
    this.#sessions.end(session);
    await this.#shared?.end(session.caller, session.id).catch((error: unknown) => this.#failed(error));
  }

  /**
   * Cancels a request of the session, wherever it runs.
   * @throws {ToolError} `unavailable` if the other endpoints cannot be reached now
   */
  async cancel(session: Session, requestId: RequestId): Promise<void> {
    if (session.isTaken(requestId)) return session.cancel(requestId);
    try {
      await this.#shared?.cancel({ sessionId: session.id, requestId });
    } catch {
      throw away("cancel the request: the gateway in which it runs cannot be reached now");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#looks?.[Symbol.asyncDispose]();
  }

  async #look(shared: SharedSessions): Promise<void> {
    const running = this.#sessions.all.flatMap((session) =>
      session.running.map((requestId) => ({ session, sessionId: session.id, requestId })),
    );
    if (running.length > 0)
      for (const { session, requestId } of await shared.takeCancelled(running)) session.cancel(requestId);
    if (++this.#count % RENEW_EACH !== 0) return;
    for (const session of this.#sessions.all.filter(({ idleMs, isNoted }) => idleMs === 0 && isNoted)) {
      const isThere = await shared.use(session.caller, session.id, this.#sessions.bounds);
      if (!isThere && !session.isRunning) this.#sessions.end(session); // another endpoint has ended it
    }
  }

  #failed(error: unknown): void {
    this.#log.debug({ error: String(error) }, "could not share the sessions of MCP clients with the other gateways"); // the connection tells of itself
  }
}

const away = (what: string): ToolError =>
  new ToolError(ToolErrorCode.Unavailable, `Cannot ${what}. Try again`, { retryAfterMs: 1_000 });

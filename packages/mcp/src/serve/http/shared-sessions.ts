import type { RequestId } from "@modelcontextprotocol/server";

/** A request of a session, by the session's id and its own. */
export interface SessionRequest {
  readonly sessionId: string;
  readonly requestId: RequestId;
}

/**
 * Which sessions there are, for all endpoints that share a store. Every operation rejects with StoreUnavailableError if
 * the store does not answer in time, refuses, or is closed.
 */
export interface SharedSessions extends AsyncDisposable {
  /**
   * Notes that a session is used: it ends once it has been idle for `idleMs`, or when its caller has `maxPerCaller`
   * that were used later.
   * @returns false if the caller has no such session, unless it `isNew`
   */
  use(
    caller: string | undefined,
    id: string,
    options: { readonly isNew?: boolean; readonly maxPerCaller: number; readonly idleMs: number },
  ): Promise<boolean>;
  end(caller: string | undefined, id: string): Promise<void>;
  /** Has the endpoint cancel the request that runs it, within CANCELS_KEPT_MS. */
  cancel(request: SessionRequest): Promise<void>;
  /** Takes the running requests that another endpoint has cancelled; each comes once. */
  takeCancelled<Request extends SessionRequest>(running: readonly Request[]): Promise<readonly Request[]>;
}

/** A request that nobody has cancelled by then has ended, or its endpoint has. */
export const CANCELS_KEPT_MS = 60_000;

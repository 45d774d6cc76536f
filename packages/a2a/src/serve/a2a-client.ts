import type { User } from "@a2a-js/sdk/server";

/** The sender of a request of A2A, as the gateway's guard has found. */
export class A2aClient implements User {
  /** The caller of the policy; the empty text is the gateway's own agent. */
  readonly by: string;
  /** Aborts when nobody reads the answer any more. */
  readonly gone: AbortSignal;

  constructor(by: string, gone: AbortSignal) {
    this.by = by;
    this.gone = gone;
  }

  get isAuthenticated(): boolean {
    return true;
  }

  get userName(): string {
    return this.by;
  }
}

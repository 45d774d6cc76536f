import type { AgentEvent } from "@rockbot/contracts";

/** Hears what happens in the agent's sessions. */
export interface SessionEvents {
  /** @param by whose session it is; undefined for the caller of this process @throws {ToolError} */
  listen(by: string | undefined, sessionId: string): Promise<HeardSession>;
}

/** The events of one session: in order, each once. */
export interface HeardSession extends Disposable {
  /** What the log has, to its end. @throws {ToolError} if it cannot be read */
  readOn(): Promise<readonly AgentEvent[]>;
  /** What has come since the last time. */
  take(): Promise<readonly AgentEvent[]>;
  /** Resolves when something has come, the time is over or the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

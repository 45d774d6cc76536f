import type { AgentEvent } from "@rockbot/contracts";

/** A session of an effective caller. The same id of another caller is another session. */
export interface SessionKey {
  readonly caller: string;
  readonly sessionId: string;
}

/** A message that a session remembers. */
export interface HistoryTurn {
  readonly role: "user" | "assistant" | "system";
  readonly content: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** True if it stems from a turn that has read untrusted content. @default false */
  readonly isUntrusted?: boolean | undefined;
  /** Who asked, if no user did. */
  readonly origin?: "schedule" | "helper" | "agent" | undefined;
}

/** A session in which a user has spoken: the beginning of the last message, and when it came. */
export type SessionListing = SessionKey & Pick<HistoryTurn, "at" | "isUntrusted"> & { readonly said: string };

/** Events of a session. */
export interface EventPage {
  readonly events: readonly AgentEvent[];
  readonly last: number;
}

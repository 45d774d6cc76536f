import type { TextDigest } from "./kept-texts.ts";

/** Where a call stands, as far as its caller knows. */
export const CallState = {
  /** Made; the bus has not confirmed it. */
  Asked: "asked",
  /** The bus has taken responsibility for it. */
  Accepted: "accepted",
  /** Its progress has been seen. */
  Running: "running",
  /** It ended with a result, perhaps one by which the tool reports a failure of its own. */
  Answered: "answered",
  /** It ended in an error that no other state stands for: `code` says which. */
  Failed: "failed",
  Cancelled: "cancelled",
  TimedOut: "timed_out",
  /** Its outcome is lost. */
  Unknown: "unknown",
} as const;
export type CallState = (typeof CallState)[keyof typeof CallState];

/**
 * One step of a timeline: a new state, a call that a restarted caller resumed, or an answer that came after the end.
 */
export type CallStep = CallState | "resumed" | "late_answer" | ServedStep;

/** A step of the service, as it tells in its answer. */
export type ServedStep = "admitted" | "claimed" | "started";

/** A caller's memory of one call, without its result. */
export interface CallRecord {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The agent, or `agent.instance`. */
  readonly caller: string;
  /** For whom the caller made the call, if not for itself. */
  readonly onBehalfOf?: string | undefined;
  /** The operator who made the call as its caller. */
  readonly operator?: string | undefined;
  /** Set if untrusted content led to it. */
  readonly hasReadUntrusted?: boolean | undefined;
  readonly state: CallState;
  /**
   * Opens the blob store's place for its result; only while it is open, and only for the process that takes it up. See
   * `shownRecord`.
   */
  readonly blob?: string | undefined;
  /**
   * Only while it is open, unless its arguments have more than MAX_SENT_CHARACTERS, and only for the process that takes
   * it up: it sends this again.
   */
  readonly sent?:
    | {
        readonly arguments: string | null;
        readonly sessionId: string | null;
        readonly depth: number;
        readonly hasReadUntrusted: boolean;
        readonly grant?: string | undefined;
        readonly operator?: string | undefined;
      }
    | undefined;
  /**
   * A hash of its tool and arguments, where its caller chose the id: a call of other arguments under the same id is
   * another one.
   */
  readonly request?: string | undefined;
  /** The call of the tool that made this one. */
  readonly parent?: string | undefined;
  /** The session that it names. */
  readonly session?: string | undefined;
  /** The revision of the policy that decided it, as the service says. */
  readonly policy?: string | undefined;
  /** The service that answered. */
  readonly service?: string | undefined;
  /** The layer of the service that refused it, or answered in the tool's place, as the service says. */
  readonly layer?: string | undefined;
  /**
   * It was asked by the fast lane, and perhaps once more by the durable way.
   * @default by the durable way alone
   */
  readonly lane?: "fast" | "fast_then_durable" | undefined;
  /** The service got it more than once, as it says. */
  readonly isRedelivered?: boolean | undefined;
  /** Digests of the arguments and the result, which the record does not have: see KeptTexts. */
  readonly given?: TextDigest | undefined;
  readonly gave?: TextDigest | undefined;
  /** The code of the error it ended in. */
  readonly code?: string | undefined;
  /** A word that says more than the code, if there is one. */
  readonly reason?: string | undefined;
  /** How often the caller asked for it under this id. */
  readonly attempts: number;
  /** Unix milliseconds, as are all times here. */
  readonly deadlineAt: number;
  /** In order; the first says when the call was made. */
  readonly steps: readonly { readonly step: CallStep; readonly at: number }[];
}

/** A record as anybody but its caller sees it. */
export function shownRecord<Record extends Pick<CallRecord, "blob" | "request" | "sent">>(
  record: Record,
): Omit<Record, "blob" | "request" | "sent"> {
  const { blob: _blob, request: _request, sent: _sent, ...shown } = record;
  return shown;
}

/**
 * Tells whether the kept record of an id stays after a later attempt under it: the attempt has no answer, and the kept
 * call has one, or had other arguments. A store decides alike.
 */
export const stays = (kept: CallRecord, later: CallRecord): boolean =>
  later.request !== undefined &&
  later.state !== CallState.Answered &&
  (kept.state === CallState.Answered || (kept.request !== undefined && kept.request !== later.request));

/** Journals keep as many calls as this of one effective caller, the newest, for MAX_AGE_MS. */
export const MAX_CALLS = 10_000;
/** All journals in one Redis keep as many calls as this. */
export const MAX_ALL_CALLS = 100_000;
/** All journals in one Redis take at most this room there, or their part of its maxmemory if that is less. */
export const MAX_ALL_BYTES = 256 * 1024 * 1024;
/** The age beyond which a journal may forget a call, in milliseconds. */
export const MAX_AGE_MS = 24 * 3_600_000;
/** Longer arguments are not kept with their call. */
export const MAX_SENT_CHARACTERS = 64 * 1024;
/** Steps of one call beyond these push out the one after the first. */
export const MAX_STEPS = 24;
/** An answer that is kept can be fetched for so long. */
export const ANSWER_KEPT_MS = 15 * 60_000;

/** True if the call has no end yet. */
export const isOpen = ({ state }: Pick<CallRecord, "state">): boolean =>
  state === CallState.Asked || state === CallState.Accepted || state === CallState.Running;

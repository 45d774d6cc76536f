import type { ContentTrust } from "./generated/types.ts";

/** Why a call failed. Closed for us; readers accept codes they do not know. */
export const ToolErrorCode = {
  /** No such tool, as far as the caller has heard. */
  ToolNotFound: "tool_not_found",
  /** The arguments break the tool's schema. */
  InvalidArguments: "invalid_arguments",
  /** No answer by the deadline. The tool may have run: `details.mayHaveRun`. */
  Timeout: "timeout",
  /** The tool ran and failed. */
  ExecutionFailed: "execution_failed",
  /**
   * The tool is known, and nobody serves it now; or what it depends on is away. `isRetryable` is false where it never
   * comes.
   */
  Unavailable: "unavailable",
  /** Not allowed for this caller. */
  Denied: "denied",
  /** This caller calls too often. */
  RateLimited: "rate_limited",
  /** Too many calls wait already. */
  Overloaded: "overloaded",
  /** The request or its result is larger than the bus carries. */
  TooLarge: "too_large",
  /** The caller gave the call up. */
  Cancelled: "cancelled",
  /** The call was started and its outcome is lost. */
  OutcomeUnknown: "outcome_unknown",
  /** It waits for a person, or runs without its caller. The same id joins it: `details.toolCallId`. */
  Pending: "pending",
} as const;
export type ToolErrorCode = (typeof ToolErrorCode)[keyof typeof ToolErrorCode];

/** Codes after which the same call may succeed later. */
const retryable: ReadonlySet<string> = new Set([
  ToolErrorCode.Timeout,
  ToolErrorCode.Unavailable,
  ToolErrorCode.RateLimited,
  ToolErrorCode.Overloaded,
]);

/** The parts of a ToolError beside its code and message. */
export interface ToolErrorOptions {
  /** Kept for logs; never sent to another process. */
  readonly cause?: unknown;
  /** @default follows from the code */
  readonly isRetryable?: boolean | undefined;
  /** The soonest time a retry makes sense, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** Machine-readable particulars. No secrets, no paths. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Whose words are in the message: `saidBy` if it quotes others. @default as the cause says, else our own */
  readonly trust?: ContentTrust | undefined;
}

/**
 * The one error a tool call fails with. The message is for the model that reads it: what was attempted, what is so,
 * what to do next.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** A ToolErrorCode, or a code of a newer peer. */
  readonly code: string;
  readonly isRetryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly trust: ContentTrust | undefined;

  constructor(
    code: string,
    message: string,
    { cause, isRetryable, retryAfterMs, details, trust }: ToolErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.isRetryable = isRetryable ?? retryable.has(code);
    this.retryAfterMs = retryAfterMs;
    this.details = details;
    this.trust = trust ?? (cause instanceof ToolError ? cause.trust : undefined);
  }
}

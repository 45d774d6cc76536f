import { redact } from "@rockbot/base/redaction";

/** Why a model gave no answer. */
export type ModelErrorCode =
  /** The request is longer than the model can read. */
  | "context_overflow"
  /** The provider wants fewer requests, or more money. */
  | "rate_limited"
  /** The provider cannot be reached, or fails. */
  | "unavailable"
  /** The provider does not accept the key, or not for this model. */
  | "unauthorized"
  /** The provider finds the request wrong: asking again will not help. */
  | "invalid_request"
  /** The provider will not have this text answered. */
  | "refused"
  /** The answer began and did not end, or there was nothing in it. */
  | "interrupted"
  /** The answer did not come in time. */
  | "timeout";

/** Details of an error. */
export interface ModelErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly limitTokens?: number | undefined;
  /** @default as the code says */
  readonly isRetryable?: boolean | undefined;
  readonly cause?: unknown;
}

const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set(["rate_limited", "unavailable", "interrupted", "timeout"]);

/** A model gave no answer. The message is for a reader, and holds no secret of this process. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;
  /** The provider asks for this wait. */
  readonly retryAfterMs?: number;
  /** What the model can read, if the provider said so with `context_overflow`. */
  readonly limitTokens?: number;
  /** True if the same request may succeed later. */
  readonly isRetryable: boolean;

  constructor(
    code: ModelErrorCode,
    message: string,
    { retryAfterMs, limitTokens, isRetryable = RETRYABLE.has(code), cause }: ModelErrorOptions = {},
  ) {
    super(redact(message), cause === undefined ? undefined : { cause });
    this.code = code;
    this.isRetryable = isRetryable;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    if (limitTokens !== undefined) this.limitTokens = limitTokens;
  }
}

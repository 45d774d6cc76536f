import { saidBy, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PublicResponse } from "@rockbot/edge/outbound";

/** An answer that is no answer to a search. */
export interface SearchFailure {
  readonly response: Pick<PublicResponse, "status" | "retryAfterMs">;
  /** The setting that names the address, for the operator. */
  readonly baseUrlSetting: string;
  /** The service's own words, made harmless; empty if there are none. */
  readonly detail: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * The error that a status means with every search service. What 401, 403 and 429 mean differs, so it is the provider's
 * to say.
 */
export function searchError({
  response: { status, retryAfterMs },
  baseUrlSetting,
  detail,
  details,
}: SearchFailure): ToolError {
  if (status >= 500) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot search: the search service answered with status ${status}. Try again later.`,
      {
        retryAfterMs,
        details,
      },
    );
  }
  if (status === 400 || status === 422) {
    return new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot search: the search service does not accept the query${detail === "" ? "" : ` (${detail})`}. Use at most 50 words and 400 characters.`,
      { details, ...(detail === "" ? {} : { trust: saidBy("the search service") }) },
    );
  }
  if (status >= 300 && status < 400) {
    return new ToolError(
      ToolErrorCode.ExecutionFailed,
      `Cannot search: the search service redirects elsewhere, where the question is not sent. The operator has to correct ${baseUrlSetting}.`,
      { details },
    );
  }
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot search: the search service answered with status ${status}. The operator has to check ${baseUrlSetting}.`,
    {
      details,
    },
  );
}

/** @param waitMs undefined if the service names none */
export function searchLimitError(waitMs: number | undefined, details: Readonly<Record<string, unknown>>): ToolError {
  const when = waitMs === undefined ? "later" : `in ${Math.ceil(waitMs / 1000)} s`;
  return new ToolError(
    ToolErrorCode.RateLimited,
    `Cannot search: the search service's request limit is reached. Try again ${when}.`,
    {
      retryAfterMs: waitMs,
      details,
    },
  );
}

/** The answer has another form than the service documents. */
export const malformedAnswer = (): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    "Cannot search: the search service's answer is not what it documents. Try again later.",
  );

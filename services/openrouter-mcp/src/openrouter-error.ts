import { retryAfterMs } from "@rockbot/base";
import { redact } from "@rockbot/base/redaction";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { cleanText } from "@rockbot/mcp/standalone";

export interface RefusedRequest {
  /** The thing that was read, in the words of the error: "the credits". */
  readonly what: string;
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

const MAX_SAID = 200;

/** Why the API refused, for the model: what the operator alone can mend says so. */
export function statusError({ what, status, retryAfter, body }: RefusedRequest): ToolError {
  const failed = (
    code: ToolErrorCode,
    why: string,
    more: { isRetryable?: boolean; retryAfterMs?: number | undefined } = {},
  ): ToolError => new ToolError(code, `Cannot read ${what}: ${why}`, { ...more, details: { status } });
  const waitMs = retryAfterMs(retryAfter);
  switch (status) {
    case 401:
      return failed(
        ToolErrorCode.Unavailable,
        "OpenRouter refuses the API key (status 401). The operator has to set a valid OPENROUTER_API_KEY.",
        {
          isRetryable: false,
        },
      );
    case 402:
      return failed(
        ToolErrorCode.Unavailable,
        "the OpenRouter account or its key has no credits left (status 402). The operator has to add some.",
        {
          isRetryable: false,
        },
      );
    case 403:
      return failed(
        ToolErrorCode.Unavailable,
        "OpenRouter tells this to a management key only (status 403). The operator has to set OPENROUTER_API_KEY to one.",
        {
          isRetryable: false,
        },
      );
    case 404:
      return failed(
        ToolErrorCode.InvalidArguments,
        "OpenRouter knows nothing by that name (status 404). Check it; a new one may take some seconds to be known.",
      );
    case 429:
      return failed(
        ToolErrorCode.RateLimited,
        `OpenRouter takes no more requests for now. Try again ${when(waitMs)}.`,
        { retryAfterMs: waitMs },
      );
    default:
      if (status >= 500 || status === 408)
        return failed(
          ToolErrorCode.Unavailable,
          `OpenRouter answered with status ${status}. Try again ${when(waitMs)}.`,
          { retryAfterMs: waitMs },
        );
      if (status >= 300 && status < 400)
        return failed(
          ToolErrorCode.ExecutionFailed,
          "OpenRouter redirects elsewhere, where the key is not sent. The operator has to correct OPENROUTER_BASE_URL.",
        );
      return failed(ToolErrorCode.ExecutionFailed, `OpenRouter answered with status ${status}${said(body)}.`);
  }
}

/** Why there is no answer at all. */
export function connectionError(what: string, error: unknown): ToolError {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown };
  const why = typeof code === "string" && /^[A-Z_]+$/.test(code) ? ` (${code})` : "";
  return new ToolError(
    ToolErrorCode.Unavailable,
    `Cannot read ${what}: OpenRouter cannot be reached${why}. Try again later.`,
    { cause: error },
  );
}

const when = (ms: number | undefined): string => (ms === undefined ? "later" : `in ${Math.ceil(ms / 1000)} s`);

/** The message of an error body, as far as it may be repeated. */
function said(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } };
    return typeof error?.message === "string" ? ` and says: ${cleanText(redact(error.message), MAX_SAID)}` : "";
  } catch {
    return "";
  }
}

import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** The error that an HTTP status other than 2xx is for a caller that only wants to read. */
export function statusError(what: string, status: number, retryAfterMs: number | undefined): ToolError {
  const text = `Cannot read ${what}: the server answered with status ${status}`;
  const details = { status };
  if (status === 429)
    return new ToolError(
      ToolErrorCode.RateLimited,
      `${text}${meaning[status]}. Try again later, or read another site meanwhile.`,
      { retryAfterMs, details },
    );
  if (status === 408 || status === 425 || status >= 500) {
    return new ToolError(ToolErrorCode.Unavailable, `${text}${meaning[status] ?? ""}. Try again later.`, {
      retryAfterMs,
      details,
    });
  }
  return new ToolError(ToolErrorCode.ExecutionFailed, `${text}${meaning[status] ?? ""}.`, { details });
}

const meaning: Readonly<Record<number, string>> = {
  401: ", it asks for a login",
  403: ", it does not let this reader in",
  404: ", there is no such page",
  410: ", the page is gone",
  429: ", too many requests were sent",
  451: ", it may not show the page for legal reasons",
  503: ", it is overloaded or in maintenance",
};

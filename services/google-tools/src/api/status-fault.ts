import { isRecord } from "@rockbot/base";
import { saidBy, ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";
import { loginRequired } from "../accounts/access-tokens.ts";
import type { Product } from "../accounts/products.ts";

/** An answer of the API as it came; without a body if that is not JSON object. */
export interface ApiAnswer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

interface Attempt {
  readonly what: string;
  readonly hasEffects: boolean;
  readonly product: Product;
  readonly account: string;
}

const LIMITS = new Set([
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "quotaExceeded",
  "dailyLimitExceeded",
  "RESOURCE_EXHAUSTED",
]);

/** The error that an answer is. @see https://developers.google.com/workspace/gmail/api/guides/handle-errors */
export function statusFault(
  { status, body, retryAfterMs }: ApiAnswer,
  { what, hasEffects, product, account }: Attempt,
): ToolError {
  const { reasons, said } = errorOf(body);
  const cannot = `Cannot ${what}`;
  const details = { status };
  if (status === 429 || (status === 403 && reasons.some((reason) => LIMITS.has(reason)))) {
    return new ToolError(ToolErrorCode.RateLimited, `${cannot}: Google's request limit is reached. Try again later.`, {
      retryAfterMs,
      details,
    });
  }
  if (status === 401) return loginRequired(product, account, "Google refuses its token");
  if (status === 403 && reasons.includes("insufficientPermissions"))
    return loginRequired(product, account, "its consent does not cover that");
  if (status === 200 || status >= 500) {
    const answered =
      status === 200 ? "Google's answer is not what it documents" : `Google answered with status ${status}`;
    if (!hasEffects)
      return new ToolError(ToolErrorCode.Unavailable, `${cannot}: ${answered}. Try again later.`, {
        retryAfterMs,
        details,
      });
    return new ToolError(
      ToolErrorCode.OutcomeUnknown,
      `${cannot} for certain: ${answered}, so it may have been done. Find out before you try again.`,
      {
        details,
      },
    );
  }
  const words = said === "" ? "" : `: ${said}`;
  const quoting = { details, ...(said === "" ? {} : { trust: saidBy("googleapis.com") }) };
  if (status === 404 || status === 410)
    return new ToolError(
      ToolErrorCode.InvalidArguments,
      `${cannot}: there is no such thing in this account${words}`,
      quoting,
    );
  if (status === 400)
    return new ToolError(
      ToolErrorCode.InvalidArguments,
      `${cannot}: Google does not take the arguments${words}`,
      quoting,
    );
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `${cannot}: Google answered with status ${status}${words}`,
    quoting,
  );
}

function errorOf(body: ApiAnswer["body"]): { readonly reasons: readonly string[]; readonly said: string } {
  const error = isRecord(body?.["error"]) ? body["error"] : {};
  const items = Array.isArray(error["errors"]) ? error["errors"].filter(isRecord) : [];
  const reasons = [error["status"], ...items.map(({ reason }) => reason)].filter(
    (reason) => typeof reason === "string",
  );
  const said =
    typeof error["message"] === "string" ? visibleText(error["message"]).replaceAll(/\s+/g, " ").slice(0, 300) : "";
  return { reasons, said };
}

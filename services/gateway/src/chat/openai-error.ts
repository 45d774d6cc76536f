import { type ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { answerError, type CallName, errorBody, HttpErrorCode, statusOf } from "../http/http-error.ts";

/** The paths whose errors have OpenAI's form, which its clients read. */
const OPENAI_PATH = /^\/v1\/(chat|models)(\/|$)/;

/** Answers a request with an error in the form of its path. */
export function answerErrorOf(c: Context, error: ToolError, call?: CallName): Response {
  return OPENAI_PATH.test(c.req.path) ? answerOpenAiError(c, error, call) : answerError(c, error, call);
}

/**
 * Answers with an error as OpenAI does. `x-should-retry` keeps its clients from making a second turn where the first may have run: they repeat each
 * request that failed with status 408, 409, 429 or 5xx.
 */
export function answerOpenAiError(c: Context, error: ToolError, call?: CallName): Response {
  c.header("x-should-retry", String(error.isRetryable && error.details?.["mayHaveRun"] !== true));
  if (error.retryAfterMs !== undefined) c.header("retry-after-ms", String(Math.ceil(error.retryAfterMs)));
  const { status, headers } = answerError(c, error, call);
  return c.json(openAiErrorBody(error, call), status as ContentfulStatusCode, Object.fromEntries(headers));
}

/** The error's body in OpenAI's form. `rockbot` has the same as any other error of the gateway. */
export function openAiErrorBody(error: ToolError, call?: CallName): { readonly error: object; readonly rockbot: object } {
  const body = errorBody(error, call) as { readonly message: string; readonly details?: { readonly param?: string } };
  return { error: { message: body.message, type: typeOf(error.code), param: body.details?.param ?? null, code: error.code }, rockbot: body };
}

function typeOf(code: string): string {
  if (code === HttpErrorCode.Unauthorized) return "authentication_error";
  if (code === ToolErrorCode.Denied) return "permission_error";
  if (code === ToolErrorCode.RateLimited) return "rate_limit_error";
  return statusOf(code) < 500 ? "invalid_request_error" : "server_error";
}

import { type ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { answerError, type CallName, errorBody, HttpErrorCode, statusOf } from "../http/http-error.ts";

/** The paths of ours; the errors of all others have OpenAI's form, which its clients read. */
const OWN_PATH = /^\/v1\/(files|tools|guides|calls|sessions)(\/|$)/;

/** What OpenAI has a code and a status for, by our reason: its clients act by them. */
const OPENAI_CODES: Readonly<Record<string, { readonly code: string; readonly status: number }>> = {
  context_overflow: { code: "context_length_exceeded", status: 400 },
  model_not_found: { code: "model_not_found", status: 404 },
};

/** Answers a request with an error in the form of its path. */
export function answerErrorOf(c: Context, error: ToolError, call?: CallName): Response {
  return /^\/v1(\/|$)/.test(c.req.path) && !OWN_PATH.test(c.req.path)
    ? answerOpenAiError(c, error, call)
    : answerError(c, error, call);
}

/**
 * Answers with an error as OpenAI does. `x-should-retry` keeps its clients from making a second turn where the first
 * may have run: they repeat each request that failed with status 408, 409, 429 or 5xx.
 */
export function answerOpenAiError(c: Context, error: ToolError, call?: CallName): Response {
  c.header("x-should-retry", String(error.isRetryable && error.details?.["mayHaveRun"] !== true));
  if (error.retryAfterMs !== undefined) c.header("retry-after-ms", String(Math.ceil(error.retryAfterMs)));
  const { headers } = answerError(c, error, call);
  return c.json(openAiErrorBody(error, call), statusFor(error) as ContentfulStatusCode, Object.fromEntries(headers));
}

/** The error's body in OpenAI's form. `rockbot` has the same as any other error of the gateway. */
export function openAiErrorBody(
  error: ToolError,
  call?: CallName,
): { readonly error: object; readonly rockbot: object } {
  const body = errorBody(error, call) as { readonly message: string; readonly details?: { readonly param?: string } };
  const code = known(error)?.code ?? error.code;
  return {
    error: { message: body.message, type: typeOf(error), param: body.details?.param ?? null, code },
    rockbot: body,
  };
}

const known = ({ details }: ToolError) => OPENAI_CODES[String(details?.["reason"])];
const statusFor = (error: ToolError): number => known(error)?.status ?? statusOf(error.code);

function typeOf(error: ToolError): string {
  const { code } = error;
  if (code === HttpErrorCode.Unauthorized) return "authentication_error";
  if (code === ToolErrorCode.Denied) return "permission_error";
  if (code === ToolErrorCode.RateLimited) return "rate_limit_error";
  return statusFor(error) < 500 ? "invalid_request_error" : "server_error";
}

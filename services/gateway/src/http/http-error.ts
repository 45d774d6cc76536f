import { redactValue } from "@rockbot/base/redaction";
import { type ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** The codes of the front door's own refusals, besides those of ToolErrorCode. */
export const HttpErrorCode = {
  /** The request has no token, or one that the gateway does not know. */
  Unauthorized: "unauthorized",
  /** There is no such path, guide or call. */
  NotFound: "not_found",
  /** The path takes another method. */
  MethodNotAllowed: "method_not_allowed",
  /** The body is not `application/json`, or is compressed. */
  UnsupportedMediaType: "unsupported_media_type",
  /** The request or one of its headers cannot be read. */
  BadRequest: "bad_request",
  /** The file has no such part. */
  RangeNotSatisfiable: "range_not_satisfiable",
  /** The request came too slowly. */
  RequestTimeout: "request_timeout",
  /** A call with this `Idempotency-Key` still runs. */
  Conflict: "conflict",
  /** The gateway does not meet the header `Expect`. */
  ExpectationFailed: "expectation_failed",
} as const;

/** The call that an error belongs to, as in the ToolError of the bus. */
export interface CallName {
  readonly toolCallId: string;
  readonly toolName: string;
}

const statuses: Readonly<Record<string, number>> = {
  [ToolErrorCode.Pending]: 202,
  [ToolErrorCode.InvalidArguments]: 400,
  [ToolErrorCode.Denied]: 403,
  [ToolErrorCode.ToolNotFound]: 404,
  [ToolErrorCode.TooLarge]: 413,
  [ToolErrorCode.RateLimited]: 429,
  [ToolErrorCode.Cancelled]: 499,
  [ToolErrorCode.OutcomeUnknown]: 500,
  [ToolErrorCode.ExecutionFailed]: 502,
  [ToolErrorCode.Unavailable]: 503,
  [ToolErrorCode.Overloaded]: 503,
  [ToolErrorCode.Timeout]: 504,
  [HttpErrorCode.BadRequest]: 400,
  [HttpErrorCode.Unauthorized]: 401,
  [HttpErrorCode.NotFound]: 404,
  [HttpErrorCode.MethodNotAllowed]: 405,
  [HttpErrorCode.RequestTimeout]: 408,
  [HttpErrorCode.Conflict]: 409,
  [HttpErrorCode.UnsupportedMediaType]: 415,
  [HttpErrorCode.RangeNotSatisfiable]: 416,
  [HttpErrorCode.ExpectationFailed]: 417,
};

/** The HTTP status that fits an error code. A code of a newer peer counts as a failure behind the front door. */
export const statusOf = (code: string): number => (Object.hasOwn(statuses, code) ? (statuses[code] as number) : 502);

/**
 * The error's form in a body: the ToolError of the bus, without this process's secrets. It names no call where the
 * request was not a call.
 */
export function errorBody(error: ToolError, call?: CallName): object {
  return redactValue({
    ...call,
    code: error.code,
    message: error.message,
    isRetryable: error.isRetryable,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(error.retryAfterMs) }),
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.trust == null ? {} : { trust: error.trust }),
  });
}

/** Answers a request with an error. `Retry-After` is in whole seconds, rounded up. */
export function answerError(c: Context, error: ToolError, call?: CallName): Response {
  if (error.retryAfterMs !== undefined)
    c.header("retry-after", String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  if (error.code === HttpErrorCode.Unauthorized) c.header("www-authenticate", 'Bearer realm="rockbot"');
  // A call that waits for people and is not kept has ended with its time.
  const isOver = error.code === ToolErrorCode.Pending && error.details?.["isKept"] !== true;
  const status = statusOf(isOver ? ToolErrorCode.Timeout : error.code);
  if (status === 202 && call !== undefined) c.header("location", `/v1/calls/${call.toolCallId}`);
  return c.json(errorBody(error, call), status as ContentfulStatusCode);
}

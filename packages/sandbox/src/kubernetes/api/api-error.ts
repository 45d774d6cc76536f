import type { ApiException } from "@kubernetes/client-node";
import { retryAfterMs } from "@rockbot/base";

/** A request that the API server has answered with an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** What the server says, for operators. */
  readonly said: string;
  /** How long it asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(what: string, status: number, body: string, retryAfter: string | undefined) {
    const said = messageOf(body);
    super(`Cannot ${what}: the API server answers ${status}: ${said}`);
    this.status = status;
    this.said = said;
    this.retryAfterMs = retryAfterMs(retryAfter);
  }

  static from(what: string, { code, body, headers }: ApiException<unknown>): ApiError {
    return new ApiError(
      what,
      code,
      typeof body === "string" ? body : JSON.stringify(body ?? ""),
      headers["retry-after"],
    );
  }
}

export const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status;

const MAX_SAID = 2_000;

/** Errors of the API server are objects of kind Status; those of what stands before it are any text. */
function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    if (typeof message === "string") return message.slice(0, MAX_SAID);
  } catch {
    // Its text says all that is known.
  }
  return body.slice(0, MAX_SAID);
}

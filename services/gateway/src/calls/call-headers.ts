import { createHash } from "node:crypto";
import { isSessionId, newId, ToolError, ToolErrorCode } from "@rockbot/contracts";

/** The words of a request's headers about its call. */
export interface CallHeaders {
  readonly toolCallId: string;
  readonly sessionId: string | undefined;
  readonly timeoutMs: number;
  /** How long ago the client sent the call first, if it repeats one that it has no answer to. */
  readonly firstSentMsAgo: number | undefined;
  /** True if the call goes on when the client's connection closes. */
  readonly goesOn: boolean;
  /** True if the client does not wait for the end: it gets the call's address at once. */
  readonly isDetached: boolean;
  /** True if the client says that untrusted content led to the call: that restricts only. */
  readonly hasReadUntrusted: boolean;
}

export interface CallHeadersOptions {
  /** When the request does not say. */
  readonly timeoutMs: number;
  /** The longest that a request may ask for. */
  readonly maxTimeoutMs: number;
  /** The sender of the request. */
  readonly caller: string | undefined;
}

/**
 * Reads `Idempotency-Key`, `Prefer: respond-async`, `rockbot-age-ms`, `rockbot-session`, `rockbot-timeout-ms`, `rockbot-on-close` and
 * `rockbot-untrusted`. The same key of the same caller is the same call.
 * @throws {ToolError} `invalid_arguments` that names every fault
 */
export function readCallHeaders(
  header: (name: string) => string | undefined,
  { timeoutMs, maxTimeoutMs, caller }: CallHeadersOptions,
): CallHeaders {
  const faults: string[] = [];
  const key = header("idempotency-key");
  if (key !== undefined && !/^[\x21-\x7e]{1,256}$/.test(key))
    faults.push("Idempotency-Key: expected 1 to 256 visible ASCII characters");
  const age = header("rockbot-age-ms");
  if (age !== undefined && !/^\d{1,12}$/.test(age))
    faults.push("rockbot-age-ms: expected a whole number of milliseconds");
  if (age !== undefined && key === undefined)
    faults.push("rockbot-age-ms: needs the Idempotency-Key of the call that is repeated");
  const session = header("rockbot-session");
  if (session !== undefined && !isSessionId(session))
    faults.push("rockbot-session: expected 1 to 256 visible ASCII characters");
  const timeout = header("rockbot-timeout-ms");
  const asked =
    timeout === undefined ? Math.min(timeoutMs, maxTimeoutMs) : /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (asked < 1 || asked > maxTimeoutMs)
    faults.push(`rockbot-timeout-ms: expected a whole number from 1 to ${maxTimeoutMs}`);
  const onClose = header("rockbot-on-close") ?? "cancel";
  if (onClose !== "cancel" && onClose !== "keep") faults.push("rockbot-on-close: expected cancel or keep");
  if (onClose === "keep" && key === undefined)
    faults.push("rockbot-on-close: keep needs an Idempotency-Key, by which the answer is fetched");
  const untrusted = header("rockbot-untrusted") ?? "false";
  if (untrusted !== "true" && untrusted !== "false") faults.push("rockbot-untrusted: expected true or false");
  if (faults.length > 0)
    throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the request's headers: ${faults.join("; ")}`);
  const toolCallId = key === undefined ? newId() : callIdOf(key, caller);
  const firstSentMsAgo = age === undefined ? undefined : Number(age);
  return {
    toolCallId,
    firstSentMsAgo,
    sessionId: session,
    timeoutMs: asked,
    goesOn: onClose === "keep",
    isDetached: (header("prefer") ?? "").split(/[,;]/).some((part) => part.trim().toLowerCase() === "respond-async"),
    hasReadUntrusted: untrusted === "true",
  };
}

/**
 * The toolCallId of a caller's idempotency key. Quotes around it, as in a structured header, are no part of it. A key
 * of 32 lower-case hex digits is the toolCallId itself, unless the gateway tells callers apart. Then the key of one
 * caller must never be the call of another.
 */
export function callIdOf(key: string, caller: string | undefined): string {
  const bare = key.replace(/^"(.*)"$/, "$1");
  if (caller === undefined && isCallId(bare)) return bare;
  const scope = caller === undefined ? "idempotency-key" : `idempotency-key of ${caller}`;
  return createHash("sha256").update(`${scope}:${bare}`).digest("hex").slice(0, 32);
}

/** Tells whether the text has the form of the ids that are minted here. */
export const isCallId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

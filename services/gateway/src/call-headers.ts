import { createHash } from "node:crypto";
import { isSessionId, newId, ToolError, ToolErrorCode } from "@rockbot/contracts";

/** What a request's headers say about its call. */
export interface CallHeaders {
  readonly toolCallId: string;
  readonly sessionId: string | undefined;
  readonly timeoutMs: number;
  /** Whether the call goes on when the client's connection closes. */
  readonly goesOn: boolean;
}

export interface CallHeadersOptions {
  /** When the request does not say. */
  readonly timeoutMs: number;
  /** The longest that a request may ask for. */
  readonly maxTimeoutMs: number;
}

/**
 * Reads `Idempotency-Key`, `rockbot-session`, `rockbot-timeout-ms` and `rockbot-on-close`. The same key is the same call: 32 lower-case hex
 * digits are the toolCallId itself, any other key is hashed to one.
 * @throws {ToolError} `invalid_arguments` that names every fault
 */
export function readCallHeaders(header: (name: string) => string | undefined, { timeoutMs, maxTimeoutMs }: CallHeadersOptions): CallHeaders {
  const faults: string[] = [];
  const key = header("idempotency-key");
  if (key !== undefined && !/^[\x21-\x7e]{1,256}$/.test(key)) faults.push("Idempotency-Key: expected 1 to 256 visible ASCII characters");
  const session = header("rockbot-session");
  if (session !== undefined && !isSessionId(session)) faults.push("rockbot-session: expected 1 to 256 visible ASCII characters");
  const timeout = header("rockbot-timeout-ms");
  const asked = timeout === undefined ? Math.min(timeoutMs, maxTimeoutMs) : /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (asked < 1 || asked > maxTimeoutMs) faults.push(`rockbot-timeout-ms: expected a whole number from 1 to ${maxTimeoutMs}`);
  const onClose = header("rockbot-on-close") ?? "cancel";
  if (onClose !== "cancel" && onClose !== "keep") faults.push("rockbot-on-close: expected cancel or keep");
  if (onClose === "keep" && key === undefined) faults.push("rockbot-on-close: keep needs an Idempotency-Key, by which the answer is fetched");
  if (faults.length > 0) throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the request's headers: ${faults.join("; ")}`);
  return { toolCallId: key === undefined ? newId() : callIdOf(key), sessionId: session, timeoutMs: asked, goesOn: onClose === "keep" };
}

/** The toolCallId of an idempotency key. Quotes around it, as in a structured header, are no part of it. */
export function callIdOf(key: string): string {
  const bare = key.replace(/^"(.*)"$/, "$1");
  return /^[0-9a-f]{32}$/.test(bare) ? bare : createHash("sha256").update(`idempotency-key:${bare}`).digest("hex").slice(0, 32);
}

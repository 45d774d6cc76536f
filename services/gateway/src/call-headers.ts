import { createHash } from "node:crypto";
import { isSessionId, newId, ToolError, ToolErrorCode } from "@rockbot/contracts";

/** What a request's headers say about its call. */
export interface CallHeaders {
  readonly toolCallId: string;
  readonly sessionId: string | undefined;
  readonly timeoutMs: number;
}

export interface CallHeadersOptions {
  /** When the request does not say. */
  readonly timeoutMs: number;
  /** The longest that a request may ask for. */
  readonly maxTimeoutMs: number;
}

/**
 * Reads `Idempotency-Key`, `rockbot-session` and `rockbot-timeout-ms`. The same key is the same call: 32 lower-case hex
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
  if (faults.length > 0) throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the request's headers: ${faults.join("; ")}`);
  return { toolCallId: key === undefined ? newId() : callIdOf(key), sessionId: session, timeoutMs: asked };
}

/** The toolCallId of an idempotency key. Quotes around it, as in a structured header, are no part of it. */
function callIdOf(key: string): string {
  const bare = key.replace(/^"(.*)"$/, "$1");
  return /^[0-9a-f]{32}$/.test(bare) ? bare : createHash("sha256").update(`idempotency-key:${bare}`).digest("hex").slice(0, 32);
}

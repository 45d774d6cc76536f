import { createHmac } from "node:crypto";
import { backoffMs, pause } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PublicFetch } from "./public-fetch.ts";

/** One message to an address that somebody else runs. */
export interface Webhook {
  readonly url: string;
  readonly body: string;
  /** Made anew for each attempt, as a signature has the time in it. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Aborts when it is tried no more. */
  readonly signal: AbortSignal;
  /** Aborts when an attempt that runs is given up, too. @default it runs to its own timeout */
  readonly attempt?: AbortSignal | undefined;
  /** @default 5 */
  readonly maxAttempts?: number | undefined;
  /** The longest wait between two attempts, in milliseconds. The first is a fortieth of it. @default 10_000 */
  readonly maxWaitMs?: number | undefined;
}

/**
 * Posts a message, `maxAttempts` times at most. An address that may not be reached, and a status that says that the
 * request itself is wrong, are tried once. No redirect is followed.
 * @returns why it did not arrive, in words; undefined if it did
 */
export async function postWebhook(
  fetch: PublicFetch,
  { url, body, headers, signal, attempt: during, maxAttempts = 5, maxWaitMs = 10_000 }: Webhook,
): Promise<string | undefined> {
  const wait = { baseMs: maxWaitMs / 40, maxMs: maxWaitMs, leastPart: 0.5 };
  for (let failures = 1; ; failures++) {
    const { why, mayRetry, waitMs = 0 } = await attempt();
    if (why === undefined || !mayRetry || failures >= maxAttempts || signal.aborted) return why;
    await pause(Math.max(backoffMs(failures, wait), Math.min(waitMs, maxWaitMs)), signal);
    if (signal.aborted) return why;
  }

  async function attempt(): Promise<{
    readonly why?: string;
    readonly mayRetry?: boolean;
    readonly waitMs?: number | undefined;
  }> {
    try {
      await using answer = await fetch(url, { method: "POST", body, headers: headers(), signal: during });
      const { status, retryAfterMs: waitMs } = answer;
      if (status >= 200 && status < 300) return {};
      return {
        why: `its status is ${status}`,
        mayRetry: status >= 500 || status === 408 || status === 425 || status === 429,
        waitMs,
      };
    } catch (error) {
      const code = error instanceof ToolError ? error.code : undefined;
      return {
        why: error instanceof Error ? error.message : String(error),
        mayRetry: code !== ToolErrorCode.Denied && code !== ToolErrorCode.InvalidArguments,
      };
    }
  }
}

/**
 * The headers of a message that its receiver can verify.
 * @param key of the receiver, and of no other
 * @param id the same for each attempt
 * @see Standard Webhooks 1.0.0, signatures of the scheme v1
 */
export function signedHeaders(key: Uint8Array, id: string, body: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

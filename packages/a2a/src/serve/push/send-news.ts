import type { StreamResponse } from "@a2a-js/sdk";
import { V03PushNotificationSerializer } from "@a2a-js/sdk/compat/v0_3/server";
import { V1PushNotificationSerializer } from "@a2a-js/sdk/server";
import { backoffMs, pause } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";
import type { PushHook } from "../store/task-store.ts";

export interface News {
  readonly hook: PushHook;
  readonly response: StreamResponse;
  /** Aborts when it is tried no more. */
  readonly signal: AbortSignal;
  /** Aborts when an attempt that runs is given up, too. */
  readonly attempt: AbortSignal;
}

const MAX_ATTEMPTS = 5;
const WAIT = { baseMs: 250, maxMs: 10_000, leastPart: 0.5 } as const;
const forms = { "1.0": new V1PushNotificationSerializer(), "0.3": new V03PushNotificationSerializer() };

/**
 * Sends one step of a task, MAX_ATTEMPTS times at most. An address that may not be reached, and a status that says that
 * the request itself is wrong, are tried once.
 * @returns why it did not arrive, in words; undefined if it did
 */
export async function sendNews(
  fetch: PublicFetch,
  { hook, response, signal, attempt: during }: News,
): Promise<string | undefined> {
  const { body, contentType } = forms[hook.version].serialize(response);
  const { token, authentication } = hook;
  const headers = {
    "content-type": contentType,
    ...(authentication === undefined
      ? {}
      : { authorization: `${authentication.scheme} ${authentication.credentials}` }),
    ...(token === undefined ? {} : { "x-a2a-notification-token": token }),
  };
  for (let failures = 1; ; failures++) {
    const { why, mayRetry, waitMs = 0 } = await attempt();
    if (why === undefined || !mayRetry || failures === MAX_ATTEMPTS || signal.aborted) return why;
    await pause(Math.max(backoffMs(failures, WAIT), Math.min(waitMs, WAIT.maxMs)), signal);
    if (signal.aborted) return why;
  }

  async function attempt(): Promise<{
    readonly why?: string;
    readonly mayRetry?: boolean;
    readonly waitMs?: number | undefined;
  }> {
    try {
      await using answer = await fetch(hook.url, { method: "POST", body, headers, signal: during });
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

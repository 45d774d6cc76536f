import { createSemaphore, pause } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createRobotsRules, describeUrl, type PublicFetch, statusError } from "@rockbot/edge/outbound";
import { decodeText } from "@rockbot/page";

/** How LinkedIn is asked. */
export interface LinkedinSiteOptions {
  /** Scheme, host and port. */
  readonly baseUrl: string;
  readonly fetch: PublicFetch;
  readonly robots: "obey" | "ignore";
  /** The least time between the beginnings of two requests. */
  readonly intervalMs: number;
}

/** LinkedIn's public pages, read one after the other. */
export interface LinkedinSite {
  /**
   * The HTML under a path; an empty text if there is no such page of results.
   * @throws {ToolError} `denied` if robots.txt forbids it, `rate_limited`, `unavailable`, `execution_failed`
   */
  read(pathAndQuery: string, signal: AbortSignal): Promise<string>;
  readonly baseUrl: string;
}

/** LinkedIn's own status for clients that it does not want now. */
const NOT_WANTED = 999;

/** Asks nothing yet. */
export function createLinkedinSite({ baseUrl, fetch, robots: policy, intervalMs }: LinkedinSiteOptions): LinkedinSite {
  const oneAtATime = createSemaphore(1);
  let nextAt = 0;
  /** Until then the site has asked for no request. */
  let closedUntil = 0;
  const rules = createRobotsRules({ read: get, setting: "LINKEDIN_ROBOTS" });

  async function get(url: string, signal: AbortSignal) {
    const closedMs = closedUntil - performance.now();
    if (closedMs > 0) throw statusError(describeUrl(new URL(url)), 429, Math.ceil(closedMs));
    const waitMs = nextAt - performance.now();
    if (waitMs > 0) await pause(waitMs, signal);
    signal.throwIfAborted();
    nextAt = performance.now() + intervalMs;
    await using response = await fetch(url, {
      signal,
      maxRedirects: 0,
      headers: { accept: "text/html, text/plain;q=0.5" },
    });
    const { status, retryAfterMs } = response;
    if (status === 429 || status === NOT_WANTED) closedUntil = performance.now() + (retryAfterMs ?? 0);
    const isRead = status === 200 || status === 404;
    return {
      status,
      retryAfterMs,
      text: isRead ? (decodeText((await response.body()).bytes, response.header("content-type")) ?? "") : "",
    };
  }

  return {
    baseUrl,
    async read(pathAndQuery, signal) {
      const url = new URL(pathAndQuery, baseUrl);
      using _turn = await oneAtATime.acquire(signal);
      if (policy === "obey") await rules.permit(url, signal);
      const { status, retryAfterMs, text } = await get(url.href, signal);
      if (status === 200) return text;
      if (status === NOT_WANTED) throw statusError(describeUrl(url), 429, retryAfterMs);
      if (status >= 300 && status < 400) {
        throw new ToolError(
          ToolErrorCode.Unavailable,
          `Cannot read ${describeUrl(url)}: LinkedIn asks for a login now. Try again later.`,
          {
            details: { status },
          },
        );
      }
      throw statusError(describeUrl(url), status, retryAfterMs);
    },
  };
}

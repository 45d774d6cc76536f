import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { describeUrl } from "../fetch-errors.ts";
import type { PublicFetch } from "../public-fetch.ts";
import { createRobotsRules, type RobotsRules } from "./robots-rules.ts";

const MAX_BYTES = 512_000;
/** A site whose file cannot be read is asked again after that time. */
const FAILURE_MS = 60_000;

export interface FetchedRobotsOptions {
  /** The setting by which the operator decides, for the words of a refusal: `ROBOTS_POLICY`. */
  readonly setting: string;
  /** A page does not wait longer for the rules of its site, in milliseconds. @default 5_000 */
  readonly timeoutMs?: number | undefined;
}

/**
 * The rules of any public site, whose robots.txt is fetched like a page: from public addresses only, the redirects of
 * it too.
 */
export function fetchedRobots(fetch: PublicFetch, { setting, timeoutMs = 5_000 }: FetchedRobotsOptions): RobotsRules {
  return createRobotsRules({
    setting,
    failureMs: FAILURE_MS,
    async read(address, signal) {
      const late = AbortSignal.timeout(timeoutMs);
      try {
        await using response = await fetch(address, {
          signal: AbortSignal.any([signal, late]),
          headers: { accept: "text/plain, */*;q=0.5" },
        });
        const { status, retryAfterMs } = response;
        if (status !== 200) return { status, retryAfterMs, text: "" };
        const { bytes, isCut } = await response.body({ maxBytes: MAX_BYTES, atLimit: "cut" });
        if (isCut)
          throw new ToolError(ToolErrorCode.Unavailable, `Cannot read ${describeUrl(response.url)}: it broke off`);
        return { status, text: new TextDecoder().decode(bytes) };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw unreadable(address, late.aborted ? `it did not come within ${timeoutMs} ms` : error);
      }
    },
  });
}

function unreadable(address: string, cause: unknown): ToolError {
  const why =
    typeof cause === "string"
      ? cause
      : cause instanceof ToolError
        ? cause.message.replace(/^Cannot read [^ ]+: /, "").replace(/\.$/, "")
        : "it is broken";
  const code =
    cause instanceof ToolError && cause.code === ToolErrorCode.Denied
      ? ToolErrorCode.Denied
      : ToolErrorCode.Unavailable;
  return new ToolError(
    code,
    `Cannot read the rules of the site, ${describeUrl(new URL(address))}: ${why}. Without them no page of it is read.`,
    { cause },
  );
}

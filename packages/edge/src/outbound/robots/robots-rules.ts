import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import robots from "robots-parser";
import { describeUrl } from "../fetch-errors.ts";
import { statusError } from "../status-error.ts";

/** A site's robots.txt, as it was answered. */
export interface RobotsFile {
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
  /** Empty unless the status is 200. */
  readonly text: string;
}

export interface RobotsRulesOptions {
  /** Reads the file. @throws {ToolError} if it cannot be read */
  readonly read: (address: string, signal: AbortSignal) => Promise<RobotsFile>;
  /** The setting by which the operator decides, for the words of a refusal: `ROBOTS_POLICY`. */
  readonly setting: string;
  /**
   * How long a file that cannot be read is not asked for again, in milliseconds, unless the site names a shorter wait.
   * @default 0
   */
  readonly failureMs?: number | undefined;
}

export interface RobotsRules {
  /**
   * Ends well if the site's robots.txt lets this program read the address. As RFC 9309 has it, a site without the file
   * allows everything, and one whose file cannot be read allows nothing.
   * @throws {ToolError} `denied` if it forbids it, and what `read` or `statusError` says if it cannot be read
   */
  permit(url: URL, signal: AbortSignal): Promise<void>;
}

/** The product by which a robots.txt names this program. */
const PRODUCT = "RockBot";
const KEPT_MS = 3_600_000;
/** As much of a file counts as RFC 9309 asks for, in characters. */
const MAX_FILE = 512_000;
/** The files that are kept, in characters together; a parsed file takes a few times that. */
const MAX_KEPT = 2_000_000;
/** An empty file takes room too. */
const ENTRY = 500;
/** Characters of rules with wildcards, times those of the path: what one answer may cost, about 50 ms. */
const MAX_STEPS = 20_000_000;

/** Its types are those of an ES module, and it is none. */
const parse = robots as unknown as typeof robots.default;

interface SiteRules {
  readonly until: number;
  readonly size: number;
  check(url: URL): void;
}

/** The rules of sites, each file read once an hour. */
export function createRobotsRules({ read, setting, failureMs = 0 }: RobotsRulesOptions): RobotsRules {
  /** By origin, in the order in which they were read. */
  const kept = new Map<string, SiteRules>();
  let size = 0;

  function drop(origin: string): void {
    size -= kept.get(origin)?.size ?? 0;
    kept.delete(origin);
  }
  function keep(origin: string, rules: SiteRules): SiteRules {
    drop(origin);
    kept.set(origin, rules);
    size += rules.size;
    while (size > MAX_KEPT) drop(kept.keys().next().value as string);
    return rules;
  }

  async function rulesOf(origin: string, signal: AbortSignal): Promise<SiteRules> {
    const address = new URL("/robots.txt", origin).href;
    try {
      const { status, retryAfterMs, text } = await read(address, signal);
      if (status >= 500 || status === 429) throw statusError(describeUrl(new URL(address)), status, retryAfterMs);
      return keep(origin, siteRules(address, status === 200 ? text.slice(0, MAX_FILE) : "", setting));
    } catch (error) {
      if (failureMs > 0 && error instanceof ToolError) {
        const check = (): never => {
          throw error;
        };
        keep(origin, {
          until: performance.now() + Math.min(failureMs, error.retryAfterMs ?? failureMs),
          size: ENTRY,
          check,
        });
      }
      throw error;
    }
  }

  return {
    async permit(url, signal) {
      const known = kept.get(url.origin);
      const rules = known !== undefined && known.until > performance.now() ? known : await rulesOf(url.origin, signal);
      rules.check(url);
    },
  };
}

/**
 * Letters that need no code have none, so that `/%70age` is `/page`.
 * @see https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2
 */
const plainlyCoded = (text: string): string =>
  text.replaceAll(/%[\da-f]{2}/gi, (code) => {
    const sign = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(sign) ? sign : code.toUpperCase();
  });

function siteRules(address: string, text: string, setting: string): SiteRules {
  const parsed = parse(address, plainlyCoded(text));
  const wildcards = text.split(/[\r\n]+/).reduce((sum, line) => sum + (line.includes("*") ? line.length : 0), 0);
  const denied = (url: URL, why: string): ToolError =>
    new ToolError(
      ToolErrorCode.Denied,
      `Cannot read ${describeUrl(url)}: ${why}. The operator decides whether robots.txt is obeyed (${setting}).`,
      {
        details: { reason: "robots" },
      },
    );
  return {
    until: performance.now() + KEPT_MS,
    size: text.length + ENTRY,
    check(url) {
      if (wildcards * (url.pathname.length + url.search.length) > MAX_STEPS)
        throw denied(url, "the site's robots.txt has more rules than can be tried");
      if (parsed.isAllowed(plainlyCoded(url.href), PRODUCT) === false)
        throw denied(url, "the site's robots.txt forbids it to programs such as this one");
    },
  };
}

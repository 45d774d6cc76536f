import { isRecord } from "@rockbot/base";
import { parseJson } from "@rockbot/contracts";
import CachePolicy from "http-cache-semantics";
import { MAX_KEPT_BYTES, MAX_KEPT_MS } from "./page-store.ts";

/** Headers by name, in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** A request, as the rules of caching see it. */
export interface CacheRequest {
  readonly url: string;
  readonly method: "GET";
  readonly headers: Headers;
}

/** An answer that is kept: what of it matters later, and its body as it came. */
export interface KeptPage {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** What had been sent for it, as `Vary` asks for. */
  readonly sent: Headers;
  /** The time of keeping, on the clock of `Date.now()`. */
  readonly keptAt: number;
}

/** The headers that are kept: those that say how long and for whom, and those that readers of a page ask for. */
const KEPT_HEADERS = [
  "age",
  "cache-control",
  "content-encoding",
  "content-language",
  "content-length",
  "content-type",
  "date",
  "etag",
  "expires",
  "last-modified",
  "link",
  "location",
  "pragma",
  "vary",
] as const;
const KEPT_STATUSES: ReadonlySet<number> = new Set([200, 301, 302, 303, 307, 308, 404, 410]);
/** Headers come first, as JSON on one line of at most so many bytes. */
const MAX_HEAD_BYTES = 131_072;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The headers that came, in the form that is kept. Directives are the same in any case, and the library knows them in
 * lower case only.
 */
export function keptHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(", ") : value;
    kept[name] =
      name === "cache-control" ? leastAges(text.toLowerCase()) : name === "pragma" ? text.toLowerCase() : text;
  }
  return kept;
}

/**
 * If an age is given twice, the least counts; the library takes the last.
 * @see https://www.rfc-editor.org/rfc/rfc9111#section-4.2.1
 */
function leastAges(directives: string): string {
  let text = directives;
  for (const name of ["max-age", "s-maxage"]) {
    const said = [...text.matchAll(new RegExp(`(?<![\\w-])${name}\\s*=\\s*"?([^",]*)"?`, "g"))];
    if (said.length < 2) continue;
    const least = Math.min(...said.map(([, seconds = ""]) => (/^\s*\d+\s*$/.test(seconds) ? Number(seconds) : 0)));
    for (const [directive] of said) text = text.replace(directive, `${name}=${least}`);
  }
  return text;
}

/**
 * Tells whether an answer may be kept for all, and is of use later: it is fresh for a while, or may stand in for an
 * error. Or it has a mark by which the site can say that it has not changed. One that sets a cookie is for one visitor.
 * One whose end nothing tells may be the beginning of a page.
 */
export function isWorthKeeping(
  request: CacheRequest,
  {
    status,
    headers,
  }: { readonly status: number; readonly headers: Readonly<Record<string, string | string[] | undefined>> },
): boolean {
  if (!KEPT_STATUSES.has(status) || headers["set-cookie"] !== undefined) return false;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return false;
  const kept = keptHeaders(headers);
  if (Number(kept["content-length"] ?? 0) > MAX_KEPT_BYTES) return false;
  const page = { status, headers: kept, sent: request.headers, keptAt: Date.now() };
  const policy = policyOf(request, page);
  return (
    policy.storable() &&
    (!policy.stale() || kept["etag"] !== undefined || kept["last-modified"] !== undefined || mayStandIn(request, page))
  );
}

/** The library's rules for a kept answer. Without words of the site no time counts as fresh. */
export function policyOf(
  request: CacheRequest,
  { status, headers, sent, keptAt }: Omit<KeptPage, "body">,
): CachePolicy {
  const made = new CachePolicy(
    { ...request, headers: { ...sent } },
    { status, headers: { ...headers } },
    { shared: true, cacheHeuristic: 0 },
  );
  return CachePolicy.fromObject({ ...made.toObject(), t: keptAt });
}

/**
 * Tells whether a stale answer may stand in where the site has an error, since its headers allow that, and none forbids
 * it. The library's `revalidatedPolicy` has that, too, but heeds neither `Vary` nor such words.
 * @see https://www.rfc-editor.org/rfc/rfc5861#section-4
 */
export function mayStandIn(request: CacheRequest, kept: Omit<KeptPage, "body">): boolean {
  const said = kept.headers["cache-control"] ?? "";
  const [, seconds] = /(?<![\w-])stale-if-error\s*=\s*"?(\d+)/.exec(said) ?? [];
  if (seconds === undefined || /(?<![\w-])(?:no-cache|must-revalidate|proxy-revalidate)(?![\w-])/.test(said))
    return false;
  // As to a reader who would take it that old.
  return policyOf(request, kept).satisfiesWithoutRevalidation({
    ...request,
    headers: { ...request.headers, "cache-control": `max-stale=${seconds}` },
  });
}

/** @param key under which it is kept: an answer that was moved to another key is not taken */
export function encodePage(key: string, { body, ...page }: KeptPage): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ key, ...page })}\n`), body]);
}

/** What is kept under a key; undefined if that is damaged, too old, or no such thing at all. */
export function decodePage(key: string, bytes: Uint8Array): KeptPage | undefined {
  if (bytes.byteLength > MAX_KEPT_BYTES) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.subarray(0, MAX_HEAD_BYTES).indexOf("\n");
  if (end === -1) return undefined;
  const head = parseJson(buffer.toString("utf8", 0, end));
  if (!head.ok || !isRecord(head.value)) return undefined;
  const { key: ownKey, status, headers, sent, keptAt } = head.value;
  if (
    ownKey !== key ||
    typeof status !== "number" ||
    !KEPT_STATUSES.has(status) ||
    !areHeaders(headers) ||
    !areHeaders(sent)
  )
    return undefined;
  if (typeof keptAt !== "number" || keptAt > Date.now() || keptAt < Date.now() - MAX_KEPT_MS) return undefined;
  return { status, headers: keptHeaders(headers), sent, keptAt, body: buffer.subarray(end + 1) };
}

const areHeaders = (value: unknown): value is Headers =>
  isRecord(value) && Object.values(value).every((text) => typeof text === "string" && HEADER_VALUE.test(text));

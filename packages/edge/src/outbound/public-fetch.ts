import { retryAfterMs } from "@rockbot/base";
import { saidBy, ToolError, ToolErrorCode, withTrust } from "@rockbot/contracts";
import { type Dispatcher, request } from "undici";
import { BodyTooLargeError } from "../body/index.ts";
import { type AddressPolicy, type AddressPolicyOptions, createAddressPolicy } from "./address-policy.ts";
import { type Answer, type Ask, PageCache } from "./cache/page-cache.ts";
import type { PageStore } from "./cache/page-store.ts";
import { blocked, cannotRead, describeUrl, effectError, type FetchLimits, fetchError } from "./fetch-errors.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import type { Lookup } from "./name-lookup.ts";
import { type Body, readBody } from "./read-body.ts";

/** Which places may be reached, and the bounds of one answer. */
export interface PublicFetchOptions extends AddressPolicyOptions {
  /** The timeout of the whole fetch, redirects and body included, in milliseconds. @default 20_000 */
  readonly timeoutMs?: number | undefined;
  /** The longest silence of a server, in milliseconds. @default 10_000 */
  readonly idleTimeoutMs?: number | undefined;
  /** The timeout of look-up, connection and TLS handshake together, in milliseconds. @default 5_000 */
  readonly connectTimeoutMs?: number | undefined;
  /** The largest body, on the wire and after decompression. @default 5_000_000 */
  readonly maxBytes?: number | undefined;
  /** @default 32_768 */
  readonly maxHeaderBytes?: number | undefined;
  /** @default "Mozilla/5.0 (compatible; RockBot)" */
  readonly userAgent?: string | undefined;
  /**
   * The settings by which an operator allows further addresses, for the words of a refusal: `ALLOW_ADDRESSES`.
   * @default none
   */
  readonly allowedBy?: string | undefined;
  /**
   * What errors call the one place that is read, where a model has no business with its address.
   * @default its address
   */
  readonly called?: string | undefined;
  /** @default createNameLookup() */
  readonly lookup?: Lookup | undefined;
  /** Where answers are kept that their sites allow to be given again. @default nothing is kept */
  readonly store?: PageStore | undefined;
}

/** One request. */
export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * No redirect of another method than GET and HEAD is followed: its answer comes back like any other.
   * @default "GET"
   */
  readonly method?: Dispatcher.HttpMethod;
  readonly body?: string | Uint8Array | undefined;
  /** Sent to the first origin only: after a redirect to another origin no request carries them, but for `accept`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How many redirects to follow; one more is an error. 0: a redirect is an answer like any other. @default 5 */
  readonly maxRedirects?: number | undefined;
  /**
   * Has a say on each address before it is asked, those of redirects too; what it throws ends the fetch.
   * @default none
   */
  readonly permit?: ((url: URL, signal: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Fetches from public addresses only. Each hop's address is checked as it is connected to, the redirects' too.
 * @throws {ToolError} `invalid_arguments` if the URL is no http(s) URL or holds a password, and `denied` if policy
 * forbids it
 * @throws {ToolError} `unavailable` if the server cannot be reached or is too slow, and `execution_failed` if what it
 * sends cannot be read
 * @throws {ToolError} `outcome_unknown` in place of the last two once a request with effects may have arrived
 */
export type PublicFetch = (url: string, options?: FetchOptions) => Promise<PublicResponse>;

/** Dispose of it: a body that is not wanted is not read. */
export interface PublicResponse extends AsyncDisposable {
  /** Where the answer came from in the end. */
  readonly url: URL;
  readonly status: number;
  /** The first header of this name. @param name in lower case */
  header(name: string): string | undefined;
  /** All of this name as one list, for headers whose value is one. @param name in lower case */
  listHeader(name: string): string | undefined;
  /** The wait the server asks for before the next try, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The whole body, decompressed. Call it once. @throws {ToolError} also `too_large`, unless it may be cut */
  body(options?: BodyOptions): Promise<Body>;
  /**
   * The body as it comes, in place of `body`; compressed as it was sent. Call it once.
   * @throws {ToolError} also `too_large`, from the iteration
   */
  chunks(): AsyncIterable<Uint8Array>;
}

/** How much of a body is read. */
export interface BodyOptions {
  /** @default the fetcher's own */
  readonly maxBytes?: number | undefined;
  /**
   * What a larger body is, and one whose connection breaks: an error, or as much of it as came within the limit.
   * @default "fail"
   */
  readonly atLimit?: "fail" | "cut" | undefined;
}

type Sent = Pick<FetchOptions, "body" | "permit"> & Required<Pick<FetchOptions, "method" | "headers">>;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** @throws {RangeError} if an exception of `allowAddresses` cannot be read */
export function createPublicFetch(options: PublicFetchOptions = {}): PublicFetch & AsyncDisposable {
  const {
    timeoutMs = 20_000,
    idleTimeoutMs = 10_000,
    connectTimeoutMs = 5_000,
    maxBytes = 5_000_000,
    maxHeaderBytes = 32_768,
    userAgent = "Mozilla/5.0 (compatible; RockBot)",
  } = options;
  const policy = createAddressPolicy(options);
  const limits = { maxBytes, idleTimeoutMs, connectTimeoutMs, allowedBy: options.allowedBy, called: options.called };
  const agent = createGuardedAgent({ policy, lookup: options.lookup, connectTimeoutMs, idleTimeoutMs, maxHeaderBytes });
  const cache = options.store === undefined ? undefined : new PageCache(options.store, options);

  async function send(url: URL, { method, body, headers, permit }: Sent, signal: AbortSignal): Promise<Answer> {
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    if (!policy.permitsPort(url.hostname.replace(/^\[|\]$/g, ""), port)) {
      throw blocked(url, portFault(port, policy), limits);
    }
    await permit?.(url, signal);
    const ask: Ask = (sent) => answered(url, { dispatcher: agent, method, body: body ?? null, headers: sent, signal });
    const all = { ...headersOf(userAgent), ...headers };
    return cache === undefined || method !== "GET" || body !== undefined
      ? await ask(all)
      : await cache.ask(url, all, ask);
  }

  const fetch: PublicFetch = async (
    text,
    { signal: callerSignal, method = "GET", body, headers = {}, maxRedirects = 5, permit } = {},
  ) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = callerSignal === undefined ? timeout : AbortSignal.any([callerSignal, timeout]);
    let url = parseUrl(text);
    const hasEffects = method !== "GET" && method !== "HEAD";
    const follows = hasEffects ? 0 : maxRedirects;
    const failure = (error: unknown): unknown => {
      if (callerSignal?.aborted === true) return callerSignal.reason;
      if (timeout.aborted)
        return new ToolError(
          ToolErrorCode.Unavailable,
          `${cannotRead(url, limits)}: no complete answer within ${timeoutMs} ms.`,
        );
      return fetchError(url, error, limits);
    };
    const fail = (error: unknown): unknown =>
      redirectTold(text, url, hasEffects ? effectError(failure(error), error) : failure(error));

    try {
      let carried = headers;
      const harmless = Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() === "accept"));
      for (let hops = 0; ; hops++) {
        const answer = await send(url, { method, body, headers: carried, permit }, signal);
        const location = headerOf(answer, "location");
        if (!redirects.has(answer.status) || location === undefined || follows === 0) {
          return publicResponse(url, answer, { maxBytes, fail });
        }
        answer.destroy();
        if (hops === follows) throw endless(url, follows, { answer, limits });
        const next = redirected(url, location, limits);
        if (next.origin !== url.origin) carried = harmless;
        url = next;
      }
    } catch (error) {
      throw fail(error);
    }
  };

  return Object.assign(fetch, {
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  });
}

/** Many sites that redirect for ever wait for a cookie. */
function endless(
  url: URL,
  follows: number,
  { answer, limits }: { readonly answer: Answer; readonly limits: FetchLimits },
): ToolError {
  const cookies =
    answer.headers["set-cookie"] === undefined
      ? ""
      : ", and wants a cookie kept, which is not done here: it may open in a browser";
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `${cannotRead(url, limits)}: it redirects more than ${follows} times${cookies}.`,
  );
}

/** The site names the place that it redirects to. */
const redirectTold = (asked: string, url: URL, error: unknown): unknown =>
  error instanceof ToolError && url.href !== URL.parse(asked)?.href
    ? withTrust(error, saidBy(describeUrl(new URL(asked))))
    : error;

async function answered(url: URL, options: NonNullable<Parameters<typeof request>[1]>): Promise<Answer> {
  const { statusCode: status, headers, body } = await request(url, options);
  body.on("error", () => {}); // a body that is dropped may still fail
  return { status, headers, body, destroy: () => body.destroy() };
}

const headersOf = (userAgent: string) => ({
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5",
  "accept-encoding": "gzip, deflate, br, zstd",
  "accept-language": "en,*;q=0.5",
  "user-agent": userAgent,
});

/** @param fail makes of what went wrong what is thrown */
function publicResponse(
  url: URL,
  answer: Answer,
  { maxBytes, fail }: { readonly maxBytes: number; readonly fail: (error: unknown) => unknown },
): PublicResponse {
  const { status, body } = answer;
  const header = (name: string): string | undefined => headerOf(answer, name);
  return {
    url,
    status,
    header,
    listHeader: (name) => [answer.headers[name]].flat().join(", ") || undefined,
    retryAfterMs: retryAfterMs(header("retry-after")),
    async body({ maxBytes: most = maxBytes, atLimit = "fail" } = {}) {
      try {
        const isTooLarge = Number(header("content-length") ?? 0) > most;
        if (isTooLarge && atLimit === "fail")
          throw new BodyTooLargeError(`it says that it has more than ${most} bytes`);
        return await readBody(body, { encoding: header("content-encoding"), maxBytes: most, atLimit });
      } catch (error) {
        throw fail(error);
      }
    },
    async *chunks() {
      try {
        let bytes = 0;
        for await (const chunk of body) {
          bytes += chunk.byteLength;
          if (bytes > maxBytes) throw new BodyTooLargeError(`it has more than ${maxBytes} bytes`);
          yield chunk;
        }
      } catch (error) {
        throw fail(error);
      }
    },
    async [Symbol.asyncDispose]() {
      answer.destroy();
    },
  };
}

/** @param name in lower case */
const headerOf = ({ headers }: Answer, name: string): string | undefined => [headers[name]].flat()[0];

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot read ${JSON.stringify(text.slice(0, 200))}: it is not a URL. Use a whole one, such as https://example.com/page.`,
    );
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot read a ${url.protocol.slice(0, 20)} URL: only http:// and https:// URLs can be read.`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot read ${describeUrl(url)}: the URL holds a user name or password. Leave them out.`,
    );
  }
  return url;
}

/**
 * The URL a redirect leads to. It is the server's choice, not the caller's: a bad one is not an argument fault.
 * @param location its bytes as characters of Latin-1; those beyond ASCII mean themselves, as in browsers, in whatever
 * encoding the site has its paths
 */
function redirected(from: URL, location: string, limits: FetchLimits): URL {
  const ascii = location.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  const to = URL.parse(ascii, from.href);
  if (to === null)
    throw new ToolError(
      ToolErrorCode.ExecutionFailed,
      `${cannotRead(from, limits)}: it redirects to something that is not a URL.`,
    );
  if (to.protocol !== "http:" && to.protocol !== "https:")
    throw blocked(from, "it redirects to a URL of another kind than http and https", limits);
  if (to.username !== "" || to.password !== "")
    throw blocked(from, "it redirects to a URL with a user name or password", limits);
  return to;
}

const portFault = (port: number, { ports }: Pick<AddressPolicy, "ports">): string =>
  ports.length === 0
    ? "no port of other hosts is allowed"
    : `port ${port} is not one of the allowed ports ${ports.join(", ")}`;

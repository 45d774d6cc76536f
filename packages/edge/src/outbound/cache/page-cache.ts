import { createHash } from "node:crypto";
import { metrics } from "@opentelemetry/api";
import { within } from "@rockbot/base";
import type { AddressPolicyOptions } from "../address-policy.ts";
import {
  type CacheRequest,
  decodePage,
  encodePage,
  type Headers,
  isWorthKeeping,
  type KeptPage,
  keptHeaders,
  mayStandIn,
  policyOf,
} from "./kept-page.ts";
import { MAX_KEPT_BYTES, MAX_KEPT_MS, type PageStore } from "./page-store.ts";

/** An answer to one request: of a server, or kept from an earlier one. */
export interface Answer {
  readonly status: number;
  /** The headers by names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Buffer>;
  /** Gives the body up. */
  destroy(): void;
}

/** Sends the request with these headers. */
export type Ask = (headers: Headers) => Promise<Answer>;

/** Requests with other headers are for somebody, and so are their answers. */
const FOR_ANYBODY: ReadonlySet<string> = new Set(["accept", "accept-encoding", "accept-language", "user-agent"]);
/** A store that has not answered by then is left alone, in milliseconds. */
const STORE_MS = 1_000;
const late = () => new Error(`the store of pages did not answer within ${STORE_MS} ms`);
/** @see https://www.rfc-editor.org/rfc/rfc5861#section-4 */
const SERVER_ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Spares a site what it has sent before, as RFC 9111 has it for a cache that many share. It stands around one hop of a
 * fetch: a kept redirect leads to a hop that is checked like any other. Nothing is kept of requests with credentials,
 * nor of answers that are private, that forbid it, or that set a cookie. A store that forgets, hangs or is away costs a
 * request what it costs without one, and is no failure.
 */
export class PageCache {
  readonly #store: PageStore;
  readonly #places: string;
  readonly #outcomes = metrics.getMeter("@rockbot/edge").createCounter("rockbot.page.cache", {
    description: "Requests for pages that may be kept, by outcome: hit, revalidated, stale or miss.",
  });

  /** @param places what may be reached: caches of other rules share nothing with it */
  constructor(store: PageStore, { allowAddresses = [], allowPorts = [] }: AddressPolicyOptions) {
    this.#store = store;
    this.#places = JSON.stringify([allowAddresses.toSorted(), allowPorts.toSorted((a, b) => a - b)]);
  }

  /** @throws what `ask` throws */
  async ask(url: URL, headers: Headers, ask: Ask): Promise<Answer> {
    if (!Object.keys(headers).every((name) => FOR_ANYBODY.has(name.toLowerCase()))) return await ask(headers);
    const request = requestOf(url, headers);
    const key = createHash("sha256").update(`${this.#places}\n${request.url}`).digest("hex");
    const kept = await this.#read(key);
    if (kept !== undefined) {
      const policy = policyOf(request, kept);
      if (policy.satisfiesWithoutRevalidation(request)) return this.#given("hit", kept);
      const { "if-none-match": tag, "if-modified-since": since } = policy.revalidationHeaders(request) as Headers;
      const marks = {
        ...(tag === undefined ? {} : { "if-none-match": tag }),
        ...(since === undefined ? {} : { "if-modified-since": since }),
      };
      const answer = await ask({ ...headers, ...marks });
      if (SERVER_ERRORS.has(answer.status) && mayStandIn(request, kept)) {
        answer.destroy();
        return this.#given("stale", kept);
      }
      if (answer.status !== 304) return await this.#keeping(key, request, answer);
      answer.destroy();
      const { policy: renewed, matches } = policy.revalidatedPolicy(request, {
        status: 304,
        headers: keptHeaders(answer.headers),
      });
      if (matches) {
        const again = { ...kept, headers: keptHeaders(renewed.toObject().resh), keptAt: Date.now() };
        if (renewed.storable()) await this.#write(key, again);
        return this.#given("revalidated", again);
      }
    }
    return await this.#keeping(key, request, await ask(headers));
  }

  #given(outcome: "hit" | "revalidated" | "stale", { status, headers, body }: KeptPage): Answer {
    this.#outcomes.add(1, { outcome });
    return { status, headers, body: once(Buffer.from(body)), destroy() {} };
  }

  /** The answer, whose body is kept when it has come to its end. */
  async #keeping(key: string, request: CacheRequest, answer: Answer): Promise<Answer> {
    this.#outcomes.add(1, { outcome: "miss" });
    if (!isWorthKeeping(request, answer)) return answer;
    const page = {
      status: answer.status,
      headers: keptHeaders(answer.headers),
      sent: request.headers,
      keptAt: Date.now(),
    };
    if (REDIRECTS.has(answer.status)) {
      const { "content-length": _length, "content-encoding": _encoding, ...headers } = page.headers;
      await this.#write(key, { ...page, headers, body: new Uint8Array() }); // nobody reads its body
      return answer;
    }
    return { ...answer, body: this.#noted(key, page, answer.body), destroy: () => answer.destroy() };
  }

  async *#noted(key: string, page: Omit<KeptPage, "body">, body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    const held: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes <= MAX_KEPT_BYTES) held.push(chunk);
      else held.length = 0;
      yield chunk;
    }
    if (bytes <= MAX_KEPT_BYTES) await this.#write(key, { ...page, body: Buffer.concat(held) });
  }

  async #read(key: string): Promise<KeptPage | undefined> {
    try {
      const bytes = await within(STORE_MS, this.#store.get(key), late);
      return bytes === undefined ? undefined : decodePage(key, bytes);
    } catch {
      return undefined; // the store counts and logs its failures itself
    }
  }

  async #write(key: string, page: KeptPage): Promise<void> {
    const bytes = encodePage(key, page);
    if (bytes.byteLength > MAX_KEPT_BYTES) return;
    await within(STORE_MS, this.#store.set(key, bytes, { ttlMs: MAX_KEPT_MS }), late).catch(() => {}); // as above
  }
}

function requestOf(url: URL, headers: Headers): CacheRequest {
  const plain = new URL(url);
  plain.hash = "";
  return {
    url: plain.href,
    method: "GET",
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  };
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  if (bytes.byteLength > 0) yield bytes;
}

import type { Readable, Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip } from "node:zlib";
import { request } from "undici";
import type { AddressPolicyOptions } from "./address-policy.ts";
import { guardedAgent } from "./guarded-fetch.ts";

export interface TextPost {
  readonly headers: Headers;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
  /** Connects to public addresses only, but for these, and takes no redirect for an answer. @default anywhere */
  readonly guard?: AddressPolicyOptions | undefined;
}

/** The answer to a post, as soon as its head is there. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The content, unpacked. It has to be read or destroyed: until then it holds the connection. */
  readonly body: Readable;
}

/** Answers come in pieces that are of use before the end. */
const GZIP = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };
const UNPACKED: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(GZIP),
  "x-gzip": () => createGunzip(GZIP),
  br: () => createBrotliDecompress(BROTLI),
};
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Posts a text as `fetch` does, and follows no redirect. It costs a third of a `fetch`, most of which goes into streams
 * around a small answer.
 * @throws {TypeError} if no answer comes, with the reason as its cause; the signal's reason if that aborts
 */
export async function postText(url: URL, { headers, body, signal, guard }: TextPost): Promise<PostAnswer> {
  const answer = await request(url, {
    method: "POST",
    headers: { "user-agent": "node", "accept-encoding": "gzip, br", ...Object.fromEntries(headers) },
    body,
    ...(signal === undefined ? {} : { signal }),
    ...(guard === undefined ? {} : { dispatcher: guardedAgent(guard) }),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : new TypeError("fetch failed", { cause: error });
  });
  const { statusCode: status, headers: given, body: packed } = answer;
  packed.on("error", () => {}); // who reads it hears of it; who does not need not
  if (guard !== undefined && REDIRECTS.has(status)) {
    packed.destroy();
    throw new TypeError("fetch failed", { cause: new Error("unexpected redirect") });
  }
  return { status, headers: toHeaders(given), body: unpacked(packed, String(given["content-encoding"] ?? "")) };
}

function unpacked(packed: Readable, encoding: string): Readable {
  const unpack = UNPACKED[encoding.trim().toLowerCase()];
  if (unpack === undefined) return packed;
  const content = unpack();
  packed.on("error", (error) => content.destroy(error));
  content.on("close", () => packed.destroy());
  return packed.pipe(content);
}

function toHeaders(given: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given))
    for (const each of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, each);
  return headers;
}

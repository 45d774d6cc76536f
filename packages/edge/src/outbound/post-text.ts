import type { Readable, Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { unlessAborted } from "@rockbot/base";
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
/** What we ask for, and what a server may use although nobody asked. */
const UNPACKED: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => createGunzip(GZIP)],
  ["x-gzip", () => createGunzip(GZIP)],
  ["br", () => createBrotliDecompress(BROTLI)],
  ["deflate", () => createInflate(GZIP)],
  ["zstd", () => createZstdDecompress()],
]);
/** Each costs memory before a byte has come. `fetch` has the same bound. */
const MAX_ENCODINGS = 5;
/** As `fetch` has it, so that all requests to a server go by one protocol. The types of the library lack it. */
const HTTP_1: object = { allowH2: false };
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Posts a text as `fetch` does, and follows no redirect. It costs a third of a `fetch`, most of which goes into streams
 * around a small answer.
 * @throws {TypeError} if no answer comes, with the reason as its cause; the signal's reason if that aborts
 */
export async function postText(url: URL, { headers, body, signal, guard }: TextPost): Promise<PostAnswer> {
  signal?.throwIfAborted();
  const posted = request(url, {
    method: "POST",
    headers: { "user-agent": "node", "accept-encoding": "gzip, br", ...Object.fromEntries(headers) },
    body,
    ...HTTP_1,
    ...(signal === undefined ? {} : { signal }),
    ...(guard === undefined ? {} : { dispatcher: guardedAgent(guard) }),
  });
  // The library looks at the signal only once it has a connection.
  const answer = await (signal === undefined ? posted : unlessAborted(posted, signal)).catch((error: unknown) => {
    posted.then((late) => late.body.on("error", () => {}).destroy()).catch(() => {});
    throw signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause: error });
  });
  const { statusCode: status, headers: given, body: packed } = answer;
  packed.on("error", () => {}); // a reader gets it, too; where nobody reads it must not end the process
  if (guard !== undefined && REDIRECTS.has(status)) {
    packed.destroy();
    throw new TypeError("fetch failed", { cause: new Error("unexpected redirect") });
  }
  const encodings = String(given["content-encoding"] ?? "").split(",");
  if (encodings.length > MAX_ENCODINGS) {
    packed.destroy();
    throw new TypeError("fetch failed", { cause: new Error(`more than ${MAX_ENCODINGS} content encodings`) });
  }
  return { status, headers: toHeaders(given), body: unpacked(packed, encodings) };
}

/** @param encodings in the order in which they were applied, as the header has them */
function unpacked(packed: Readable, encodings: readonly string[]): Readable {
  return encodings.reduceRight((inner: Readable, name) => {
    const unpack = UNPACKED.get(name.trim().toLowerCase());
    if (unpack === undefined) return inner;
    const content = unpack();
    content.on("error", () => {}); // as above
    inner.on("error", (error) => content.destroy(error));
    content.on("close", () => inner.destroy());
    return inner.pipe(content);
  }, packed);
}

function toHeaders(given: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given))
    for (const each of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, each);
  return headers;
}

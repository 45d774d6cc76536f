import zlib from "node:zlib";
import { errors } from "undici";
import { BodyTooLargeError, readBounded } from "../body/index.ts";

/** The body is compressed in a way that we did not ask for, or is broken. */
export class BodyEncodingError extends Error {
  override readonly name = "BodyEncodingError";
}

/** The compressed body breaks off before the first of its text. */
export class BodyCutError extends Error {
  override readonly name = "BodyCutError";
}

/** What bounds a body that is read. */
export interface ReadBodyOptions {
  /** The `Content-Encoding` header: none, one or two of gzip, deflate, br, zstd. */
  readonly encoding?: string | undefined;
  /** The limit on the wire and again after decompression. */
  readonly maxBytes: number;
  /**
   * What a larger body is, and one whose connection breaks: an error, or as much of it as came within the limit.
   * @default "fail"
   */
  readonly atLimit?: "fail" | "cut" | undefined;
}

export interface Body {
  readonly bytes: Uint8Array;
  /** True if the body broke off, so that this is its received part, as in browsers. */
  readonly isCut: boolean;
  /** True if there is more than the limit holds, so that these are the beginning. */
  readonly isBeyondLimit: boolean;
}

/**
 * Reads a body to its end, or to the limit, and decompresses it. However much a small body would unpack to, no more
 * than `maxBytes` and a chunk are held of it.
 * @throws {BodyTooLargeError} before or after decompression, unless it may be cut
 * @throws {BodyCutError}
 * @throws {BodyEncodingError}
 */
export async function readBody(
  body: AsyncIterable<Buffer>,
  { encoding = "", maxBytes, atLimit = "fail" }: ReadBodyOptions,
): Promise<Body> {
  const decoders = encodingsOf(encoding).map((name) => {
    const decoder = Object.hasOwn(decoderOf, name) ? decoderOf[name] : undefined;
    if (decoder === undefined)
      throw new BodyEncodingError(
        `its content encoding "${name.slice(0, 40)}" is not one of ${Object.keys(decoderOf).join(", ")}`,
      );
    return decoder;
  });
  if (decoders.length > 2) throw new BodyEncodingError("it is compressed more than twice");

  let read: Body =
    atLimit === "cut"
      ? await readUpTo(body, maxBytes)
      : { bytes: await readBounded(body, maxBytes), isCut: false, isBeyondLimit: false };
  for (const decoder of decoders.reverse()) {
    if (read.bytes.length > 0) read = await decoded(read, decoder, { maxBytes, atLimit });
  }
  if ((read.isCut || (read.isBeyondLimit && decoders.length > 0)) && read.bytes.length === 0) throw new BodyCutError();
  return read;
}

async function readUpTo(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Body> {
  const held: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  try {
    for await (const chunk of chunks) {
      held.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > maxBytes) break; // which ends the connection
    }
  } catch (error) {
    if (bytes === 0 || !isBroken(error)) throw error;
    isCut = true;
  }
  return { bytes: Buffer.concat(held, Math.min(bytes, maxBytes)), isCut, isBeyondLimit: bytes > maxBytes };
}

/** Tells whether the server closed the connection, as it does after fewer bytes than it has named. */
const isBroken = (error: unknown): boolean =>
  error instanceof errors.SocketError || (error as NodeJS.ErrnoException).code === "ECONNRESET";

async function decoded(
  read: Body,
  decoder: Decoder,
  { maxBytes, atLimit }: Required<Omit<ReadBodyOptions, "encoding">>,
): Promise<Body> {
  let unpacked = await unpack(decoder(read.bytes), read.bytes, maxBytes);
  const deflated = unpacked.code === "Z_DATA_ERROR" ? firstMember(read.bytes) : undefined;
  // Browsers pass by what stands after a gzip stream, and this decoder takes it for another one.
  if (deflated !== undefined) unpacked = await unpack(zlib.createInflateRaw(CHUNK), deflated, maxBytes);
  const { bytes, isBeyondLimit, code } = unpacked;
  if (isBeyondLimit && atLimit === "fail") throw new BodyTooLargeError(`it unpacks to more than ${maxBytes} bytes`);
  if (code !== undefined && code !== ENDS_EARLY) throw new BodyEncodingError("its compressed content is broken");
  // What was cut at the limit ends early, and that is not the server's fault.
  return {
    bytes,
    isCut: read.isCut || (code === ENDS_EARLY && !read.isBeyondLimit),
    isBeyondLimit: read.isBeyondLimit || isBeyondLimit,
  };
}

const [HAS_CHECK, HAS_EXTRA, HAS_NAME, HAS_COMMENT] = [2, 4, 8, 16];

/**
 * What stands after the head of a gzip stream; undefined of other streams.
 * @see https://www.rfc-editor.org/rfc/rfc1952#section-2.3
 */
function firstMember(bytes: Uint8Array): Uint8Array | undefined {
  const [first, second, method, flags = 0] = bytes;
  if (first !== 0x1f || second !== 0x8b || method !== 8) return undefined;
  let at = 10;
  if ((flags & HAS_EXTRA) !== 0) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0);
  for (const flag of [HAS_NAME, HAS_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end === -1) return undefined;
    at = end + 1;
  }
  return bytes.subarray((flags & HAS_CHECK) === 0 ? at : at + 2);
}

/** The code of every decoder for input that breaks off. */
const ENDS_EARLY = "Z_BUF_ERROR";

/** What a stream makes of its input until it fails, ends, or has made more than that. */
async function unpack(stream: ReturnType<Decoder>, input: Uint8Array, maxBytes: number) {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const held: Buffer[] = [];
  let bytes = 0;
  let code: string | undefined;
  stream.on("data", (chunk: Buffer) => {
    held.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > maxBytes) stream.destroy();
  });
  stream.once("error", (error: NodeJS.ErrnoException) => {
    code = error.code ?? "unknown";
  });
  stream.once("close", close);
  stream.end(input);
  await closed;
  return { bytes: Buffer.concat(held, Math.min(bytes, maxBytes)), isBeyondLimit: bytes > maxBytes, code };
}

const encodingsOf = (header: string): string[] =>
  header
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => !notCoded.has(name));

/** Some servers name an encoding of characters, or say that there is none, and browsers read what they send. */
const notCoded: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8", "8bit", "binary"]);

type Decoder = (bytes: Uint8Array) => zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress;

/** What a stream gives at a time: more costs fewer turns of the event loop. */
const CHUNK = { chunkSize: 65_536 };

const decoderOf: Readonly<Record<string, Decoder>> = {
  gzip: () => zlib.createGunzip(CHUNK),
  "x-gzip": () => zlib.createGunzip(CHUNK),
  // Some servers send the bare stream, which RFC 9110 does not allow: a zlib header always has 8 in its low half.
  deflate: (bytes) => (((bytes[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(CHUNK) : zlib.createInflateRaw(CHUNK)),
  br: () => zlib.createBrotliDecompress(CHUNK),
  zstd: () => zlib.createZstdDecompress(CHUNK),
};

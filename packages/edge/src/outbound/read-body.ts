import { promisify } from "node:util";
import { type BrotliOptions, brotliDecompress, constants, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import { BodyTooLargeError, readBounded } from "../body/index.ts";

/** The body is compressed in a way that we did not ask for, or is broken. */
export class BodyEncodingError extends Error {
  override readonly name = "BodyEncodingError";
}

export interface ReadBodyOptions {
  /** The `Content-Encoding` header: none, one or two of gzip, deflate, br. */
  readonly encoding?: string | undefined;
  /** The limit on the wire and again after decompression. */
  readonly maxBytes: number;
}

/** The compressed body breaks off before the first of its text. */
export class BodyCutError extends Error {
  override readonly name = "BodyCutError";
}

export interface Body {
  readonly bytes: Uint8Array;
  /** Whether a compressed body broke off, so that these are what came of it, as in browsers. */
  readonly isCut: boolean;
}

/**
 * Reads a body to its end and decompresses it. However much a small body would unpack to, no more than `maxBytes` and a
 * chunk are held of it.
 * @throws {BodyTooLargeError} before or after decompression
 * @throws {BodyCutError}
 * @throws {BodyEncodingError}
 */
export async function readBody(body: AsyncIterable<Buffer>, { encoding = "", maxBytes }: ReadBodyOptions): Promise<Body> {
  const decoders = encodingsOf(encoding).map((name) => {
    const decoder = Object.hasOwn(decompress, name) ? decompress[name] : undefined;
    if (decoder === undefined) throw new BodyEncodingError(`its content encoding "${name.slice(0, 40)}" is not one of ${Object.keys(decompress).join(", ")}`);
    return decoder;
  });
  if (decoders.length > 2) throw new BodyEncodingError("it is compressed more than twice");

  let bytes = await readBounded(body, maxBytes);
  let isCut = false;
  for (const decoder of decoders.reverse()) {
    if (bytes.length === 0) break;
    try {
      const whole = await decoder(bytes, { maxOutputLength: maxBytes, isLenient: false }).catch(endsEarly);
      bytes = whole ?? (await decoder(bytes, { maxOutputLength: maxBytes, isLenient: true }));
      isCut ||= whole === undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw new BodyTooLargeError(`it unpacks to more than ${maxBytes} bytes`);
      throw new BodyEncodingError("its compressed content is broken", { cause: error });
    }
  }
  if (isCut && bytes.length === 0) throw new BodyCutError();
  return { bytes, isCut };
}

function endsEarly(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "Z_BUF_ERROR") throw error;
}

const encodingsOf = (header: string): string[] =>
  header
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");

interface DecompressOptions {
  readonly maxOutputLength: number;
  /** Whether a body that breaks off gives what there is of it. */
  readonly isLenient: boolean;
}
type Decompress = (bytes: Buffer, options: DecompressOptions) => Promise<Buffer>;

const zlib =
  (unpackOf: (bytes: Buffer) => typeof gunzip): Decompress =>
  (bytes, { maxOutputLength, isLenient }) =>
    promisify<Buffer, ZlibOptions, Buffer>(unpackOf(bytes))(bytes, { maxOutputLength, ...(isLenient ? { finishFlush: constants.Z_SYNC_FLUSH } : {}) });
const gzip = zlib(() => gunzip);

const decompress: Readonly<Record<string, Decompress>> = {
  gzip,
  "x-gzip": gzip,
  // Some servers send the bare stream, which RFC 9110 does not allow: a zlib header always has 8 in its low half.
  deflate: zlib((bytes) => (((bytes[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw)),
  br: (bytes, { maxOutputLength, isLenient }) =>
    promisify<Buffer, BrotliOptions, Buffer>(brotliDecompress)(bytes, {
      maxOutputLength,
      ...(isLenient ? { finishFlush: constants.BROTLI_OPERATION_FLUSH } : {}),
    }),
};

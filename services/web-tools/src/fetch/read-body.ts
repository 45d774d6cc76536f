import { promisify } from "node:util";
import { brotliDecompress, constants, gunzip, inflate, inflateRaw } from "node:zlib";

/** The body is larger than the limit, before or after decompression. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

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

/**
 * Reads a body to its end and decompresses it. However much a small body would unpack to, no more than `maxBytes` and a
 * chunk are held of it. A compressed body that breaks off gives what came, as in browsers.
 * @throws {BodyTooLargeError}
 * @throws {BodyEncodingError}
 */
export async function readBody(body: AsyncIterable<Buffer>, { encoding = "", maxBytes }: ReadBodyOptions): Promise<Uint8Array> {
  const decoders = encodingsOf(encoding).map((name) => {
    const decoder = Object.hasOwn(decompress, name) ? decompress[name] : undefined;
    if (decoder === undefined) throw new BodyEncodingError(`its content encoding "${name.slice(0, 40)}" is not one of ${Object.keys(decompress).join(", ")}`);
    return decoder;
  });
  if (decoders.length > 2) throw new BodyEncodingError("it is compressed more than twice");

  let bytes = await collect(body, maxBytes);
  for (const decoder of decoders.reverse()) {
    if (bytes.length === 0) break;
    bytes = await decoder(bytes, maxBytes).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_BUFFER_TOO_LARGE") throw new BodyTooLargeError();
      throw new BodyEncodingError("its compressed content is broken", { cause: error });
    });
  }
  return bytes;
}

const encodingsOf = (header: string): string[] =>
  header
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");

async function collect(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyTooLargeError(); // leaving the loop destroys the stream
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

type Decompress = (bytes: Buffer, maxOutputLength: number) => Promise<Buffer>;

const lenient = { finishFlush: constants.Z_SYNC_FLUSH };
const gunzipBytes: Decompress = (bytes, maxOutputLength) => promisify(gunzip)(bytes, { ...lenient, maxOutputLength });

const decompress: Readonly<Record<string, Decompress>> = {
  gzip: gunzipBytes,
  "x-gzip": gunzipBytes,
  // Some servers send the bare stream, which RFC 9110 does not allow: a zlib header always has 8 in its low half.
  deflate: (bytes, maxOutputLength) => promisify(((bytes[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw)(bytes, { ...lenient, maxOutputLength }),
  br: (bytes, maxOutputLength) => promisify(brotliDecompress)(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
};

import type { Readable } from "node:stream";
import { hearIncoming } from "./hear-incoming.ts";

/** A body has more bytes than are taken of it. */
export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";
}

/**
 * Reads a body to its end. It holds at most the limit and one chunk of a body that is too large.
 * @throws {BodyTooLargeError} as soon as more than `maxBytes` have come; the iteration ends with it
 */
export async function readBounded(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    held.push(chunk);
  }
  return Buffer.concat(held, bytes);
}

/** The same for a stream of Node: see hearIncoming. */
export function readIncoming(incoming: Readable, maxBytes: number): Promise<Buffer> {
  const held: Buffer[] = [];
  let bytes = 0;
  return hearIncoming(incoming, {
    take(chunk) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      held.push(chunk);
      return false;
    },
    end: () => Buffer.concat(held, bytes),
  });
}

const tooLarge = (maxBytes: number): BodyTooLargeError =>
  new BodyTooLargeError(`Cannot read a body of more than ${maxBytes} bytes`);

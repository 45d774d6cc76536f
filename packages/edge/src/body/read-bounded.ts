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
    if (bytes > maxBytes) throw new BodyTooLargeError(`Cannot read a body of more than ${maxBytes} bytes`);
    held.push(chunk);
  }
  return Buffer.concat(held, bytes);
}

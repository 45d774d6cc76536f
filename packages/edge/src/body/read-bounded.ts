import type { IncomingMessage } from "node:http";

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

/**
 * The same for a request of a server, which outlives a refusal: its answer still goes out. It listens to the request, as
 * an iterator of a stream costs more than all else that is done with a small body.
 * @throws {Error} if the connection ends before
 */
export function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const held: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      bytes += chunk.byteLength;
      if (bytes <= maxBytes) held.push(chunk);
      else fail(tooLarge(maxBytes));
    };
    const end = (): void => {
      leave();
      resolve(Buffer.concat(held, bytes));
    };
    const fail = (error: Error): void => {
      leave();
      incoming.pause();
      reject(error);
    };
    const cut = (): void => fail(new Error("Cannot read the body: the connection has ended"));
    const leave = (): void => {
      incoming.off("data", take).off("end", end).off("error", fail).off("close", cut);
    };
    incoming.on("data", take).on("end", end).on("error", fail).on("close", cut);
    if (incoming.destroyed) cut(); // before anybody listened
  });
}

const tooLarge = (maxBytes: number): BodyTooLargeError =>
  new BodyTooLargeError(`Cannot read a body of more than ${maxBytes} bytes`);

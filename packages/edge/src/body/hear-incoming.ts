import type { Readable } from "node:stream";

export interface Hearing<T> {
  /** Gets each piece. It ends the reading if it throws, or if it returns true: then this piece counts as the last. */
  take(chunk: Buffer): boolean;
  /** Makes the result once the last piece is there. */
  end(): T;
}

/**
 * Reads a stream, such as the body of a request, and leaves it paused where the reading ends early: an answer to the
 * request can still go out. It listens, as an iterator of a stream costs more than all else that is done with a small body.
 * @throws {Error} what `take` throws, or if the connection ends before
 */
export function hearIncoming<T>(incoming: Readable, { take, end }: Hearing<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const hold = (chunk: Buffer): void => {
      try {
        if (!take(chunk)) return;
        incoming.pause();
        finish();
      } catch (error) {
        fail(error as Error);
      }
    };
    const finish = (): void => {
      leave();
      resolve(end());
    };
    const fail = (error: Error): void => {
      leave();
      incoming.pause();
      reject(error);
    };
    const cut = (): void => fail(new Error("Cannot read the body: the connection has ended"));
    const leave = (): void => {
      incoming.off("data", hold).off("end", finish).off("error", fail).off("close", cut);
    };
    incoming.on("data", hold).on("end", finish).on("error", fail).on("close", cut);
    if (incoming.destroyed) cut(); // before anybody listened
  });
}

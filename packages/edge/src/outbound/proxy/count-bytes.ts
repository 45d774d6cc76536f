import { Transform } from "node:stream";

/** Hands on what comes, and tells how many bytes. */
export const countBytes = (tell: (bytes: number) => void): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      tell(chunk.byteLength);
      done(null, chunk);
    },
  });

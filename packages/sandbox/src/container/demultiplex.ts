import { Transform } from "node:stream";

const HEADER_BYTES = 8;
const STDOUT = 1;

/** What the end of stderr is kept of, to say why a sandbox did not start. */
const KEPT_STDERR_BYTES = 2_000;

export interface Demultiplexer extends Transform {
  /** The end of what came on stderr. */
  readonly stderr: string;
}

/**
 * Passes on the stdout of a container's streams, which its engine sends in frames: one byte that says which stream,
 * three of nothing, four of length, and as many bytes. A payload is passed on as it comes, so that the length, which
 * the engine sets, is no bound to be trusted.
 */
export function createDemultiplexer(): Demultiplexer {
  let header = Buffer.alloc(0);
  let isStdout = false;
  let left = 0;
  let stderr = "";

  const transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let rest = chunk;
      while (rest.length > 0) {
        if (left === 0) {
          const taken = rest.subarray(0, HEADER_BYTES - header.length);
          header = Buffer.concat([header, taken]);
          rest = rest.subarray(taken.length);
          if (header.length < HEADER_BYTES) break;
          isStdout = header[0] === STDOUT;
          left = header.readUInt32BE(4);
          header = Buffer.alloc(0);
          continue;
        }
        const payload = rest.subarray(0, left);
        left -= payload.length;
        rest = rest.subarray(payload.length);
        if (isStdout) this.push(payload);
        else stderr = (stderr + payload.toString("latin1")).slice(-KEPT_STDERR_BYTES);
      }
      done();
    },
  });
  return Object.defineProperty(transform, "stderr", { get: () => stderr }) as Demultiplexer;
}

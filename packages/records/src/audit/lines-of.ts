import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { MAX_LINE_BYTES } from "./chain.ts";

/** A line of a file, without its line break. */
export interface FileLine {
  readonly bytes: Buffer;
  /** True if a line break ends it; only a file's last line may have none. */
  readonly isComplete: boolean;
}

const LINE_BREAK = 0x0a;

/** The lines of a file, from the first. One that is longer than any of ours is cut, and so is none of ours. */
export async function* linesOf(file: string): AsyncGenerator<FileLine> {
  if ((await stat(file)).isDirectory())
    throw Object.assign(new Error(`Cannot read ${file}: it is a folder`), { code: "EISDIR", path: file });
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, from)) {
      yield { bytes: Buffer.concat([rest, chunk.subarray(from, end)]), isComplete: true };
      rest = Buffer.alloc(0);
      from = end + 1;
    }
    if (rest.length <= MAX_LINE_BYTES) rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  if (rest.length > 0) yield { bytes: rest, isComplete: false };
}

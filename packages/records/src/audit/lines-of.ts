import { createReadStream } from "node:fs";
import { type FileHandle, stat } from "node:fs/promises";
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
  const stream = createReadStream(file);
  stream.on("error", () => {}); // the loop over its chunks throws it
  yield* linesIn(stream);
}

/** The lines of a file's bytes, likewise. Each chunk is awaited, so that other work has its turn in between. */
export async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileLine> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
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

const BLOCK_BYTES = 64 * 1024;

/**
 * The lines of a file that begin before the offset `end`, from the last to the first, each with the offset where it
 * begins. A last line without a line break is left out. One that is longer than any of ours comes in pieces.
 */
export async function* linesBefore(
  handle: FileHandle,
  end: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly at: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let isEnded = false;
  for (let from = end; from > 0; ) {
    const block = Buffer.alloc(Math.min(BLOCK_BYTES, from));
    from -= block.length;
    await handle.read(block, 0, block.length, from);
    let upTo = block.length;
    for (let at = block.lastIndexOf(LINE_BREAK); at >= 0; at = block.subarray(0, at).lastIndexOf(LINE_BREAK)) {
      if (isEnded) yield { bytes: Buffer.concat([block.subarray(at + 1, upTo), rest]), at: from + at + 1 };
      isEnded = true;
      rest = Buffer.alloc(0);
      upTo = at;
    }
    rest = Buffer.concat([block.subarray(0, upTo), rest]);
    if (rest.length <= MAX_LINE_BYTES) continue;
    yield { bytes: rest, at: from };
    rest = Buffer.alloc(0);
  }
  if (isEnded) yield { bytes: rest, at: 0 };
}

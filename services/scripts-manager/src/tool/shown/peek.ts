/** The first bytes of a stream, and all of it. */
export interface Peeked {
  /** Fewer than were asked for if the stream is shorter. */
  readonly head: Buffer;
  readonly all: AsyncIterable<Buffer>;
}

/** Looks at the begin of a stream, which has to be read from `all` afterwards. */
export async function peek(parts: AsyncIterable<Buffer>, bytes: number): Promise<Peeked> {
  const iterator = parts[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  for (let size = 0; size < bytes; ) {
    const next = await iterator.next();
    if (next.done === true) break;
    held.push(next.value);
    size += next.value.length;
  }
  return { head: Buffer.concat(held).subarray(0, bytes), all: whole(held, iterator) };
}

async function* whole(held: readonly Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* held;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

import { startLoop } from "@rockbot/base";

const LOOK_EVERY_MS = 2_000;

/**
 * Calls `listener` when a read value is another than before, until the returned function is called. A value that cannot
 * be read has not changed.
 */
export function watchFor(read: () => Promise<string>, listener: () => void): () => void {
  let last: string | undefined;
  const loop = startLoop(LOOK_EVERY_MS, async () => {
    const now = await read().catch(() => last);
    if (last !== undefined && now !== last) listener();
    last = now;
  });
  return () => void loop[Symbol.asyncDispose]();
}

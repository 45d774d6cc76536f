import type { Readable } from "node:stream";
import { MAX_FRAME_BYTES } from "../job/frames.ts";

/** How long a supervisor may take until it is ready. */
export interface UntilReadyOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Waits until the supervisor of a sandbox has said `ready`; its output can then be read from the first frame on.
 * @throws {Error} if something else comes, the output ends before, or nothing comes in time; the signal's reason
 */
export async function untilReady(output: Readable, { signal, timeoutMs }: UntilReadyOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  // Bytes that are put back are readable at once: no listener may be there then.
  const look = (): void => {
    output.off("readable", look);
    const chunk = output.read() as Buffer | null;
    if (chunk !== null) output.unshift(chunk);
    const line = chunk?.toString().split("\n", 1)[0] ?? "";
    const isWhole = line.length > MAX_FRAME_BYTES || line.length < (chunk?.toString().length ?? 0);
    if (!isWhole) setImmediate(() => output.on("readable", look));
    else if (line.startsWith('{"frame":"ready",')) resolve();
    else reject(new Error("its first words are not those of a supervisor"));
  };
  const end = (): void => reject(new Error("it ended before it was ready"));
  const abort = (): void =>
    reject(signal.aborted ? signal.reason : new Error(`it was not ready within ${timeoutMs} ms`));
  output.on("readable", look).on("end", end).on("error", end).on("close", end);
  deadline.addEventListener("abort", abort, { once: true });
  if (deadline.aborted) abort();
  try {
    await promise;
  } finally {
    output.off("readable", look).off("end", end).off("error", end).off("close", end);
    deadline.removeEventListener("abort", abort);
  }
}

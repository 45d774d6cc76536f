import { setTimeout } from "node:timers/promises";
import { AwakeClock, backoffMs } from "@rockbot/base";
import { MAX_FRAME_BYTES } from "../../job/frames.ts";
import { hasStatus } from "./api-error.ts";
import type { PodsApi } from "./pods-api.ts";
import { readLines } from "./read-lines.ts";

export interface FollowLogOptions {
  /** Nothing is written to the log any more, as far as is known. */
  readonly isOver: () => boolean;
  /** The pod itself is not there, as far as is known. */
  readonly isGone: () => boolean;
  /** So many lines are known already. @default 0 */
  readonly told?: number | undefined;
  /** More of a log is not read. */
  readonly limitBytes: number;
  readonly signal: AbortSignal;
}

/** In a row, of a log that does not change any more. */
const MOST_FAILURES = 5;
/** A log that says nothing for so long after its pod is over has a connection that was forgotten on the way. */
const SILENT_MS = 3_000;

/**
 * The lines of a pod's log from the first on, each once, until there are no more. Where the connection breaks, or stays
 * silent though the pod is over, it goes on behind the last line; a log that cannot be read is tried again until its
 * pod is over. A kubelet that has just started knows none of its pods, and has no log of one that runs.
 * @returns whether it was read to its end
 * @throws the signal's reason
 */
export async function* followLog(
  api: PodsApi,
  name: string,
  { isOver, isGone, told: known = 0, limitBytes, signal }: FollowLogOptions,
): AsyncGenerator<string, boolean> {
  let told = known;
  for (let failures = 0; ; ) {
    const wasOver = isOver();
    let line = 0;
    let bytes = 0;
    using silence = silenceAfter(isOver);
    try {
      const log = await api.log(name, { follow: !wasOver, limitBytes }, AbortSignal.any([signal, silence.signal]));
      for await (const text of readLines(log, MAX_FRAME_BYTES)) {
        silence.heard();
        bytes += Buffer.byteLength(text) + 1;
        if (++line <= told) continue;
        told++;
        failures = 0;
        yield text;
      }
      if (wasOver || bytes >= limitBytes) return wasOver;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RangeError || (hasStatus(error, 404) && isGone()) || (wasOver && failures >= MOST_FAILURES))
        return false;
    }
    await setTimeout(backoffMs(++failures, { leastPart: 0.5 }), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    );
  }
}

/** A signal that aborts once the pod is over and nothing was heard for a while. */
function silenceAfter(isOver: () => boolean): Disposable & { readonly signal: AbortSignal; heard(): void } {
  const silence = new AbortController();
  const clock = new AwakeClock();
  let heardAt = clock.now;
  const heard = (): void => {
    heardAt = clock.now;
  };
  const look = (): void => {
    if (!isOver()) heard();
    else if (clock.now - heardAt >= SILENT_MS) silence.abort(new Error(`nothing was heard for ${SILENT_MS / 1_000} s`));
    callOff = clock.after(SILENT_MS / 4, look);
  };
  let callOff = clock.after(SILENT_MS / 4, look);
  return { signal: silence.signal, heard, [Symbol.dispose]: () => callOff() };
}

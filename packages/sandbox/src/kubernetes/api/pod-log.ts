import { MAX_FRAME_BYTES } from "../../job/frames.ts";
import type { PodsApi } from "./pods-api.ts";
import { readLines } from "./read-lines.ts";
import { retried } from "./retried.ts";

/** The supervisor says `ready`, then `started`. */
const LIMIT_BYTES = 2 * MAX_FRAME_BYTES;

/** Tells whether a pod's supervisor has begun its script. @throws {ApiError} if that cannot be known */
export async function hasStarted(api: PodsApi, name: string, signal: AbortSignal): Promise<boolean> {
  return await retried(signal, async (attempt) => {
    for await (const line of readLines(
      await api.log(name, { follow: false, limitBytes: LIMIT_BYTES }, attempt),
      LIMIT_BYTES,
    )) {
      if (line.startsWith('{"frame":"started"')) return true;
    }
    return false;
  });
}

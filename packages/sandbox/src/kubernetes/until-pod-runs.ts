import type { ToolError } from "@rockbot/contracts";
import type { PodWatch } from "./pod-watch.ts";
import { lateFault, podEnd, startFault } from "./pods/pod-fault.ts";
import type { PodView } from "./pods/pod-view.ts";

export interface UntilPodRunsOptions {
  /** How long it may wait for a node, its image and its start. */
  readonly scheduleMs: number;
  readonly signal: AbortSignal;
}

/** @throws {ToolError} that says why it will not run, or has not in time; the signal's reason */
export async function untilPodRuns(
  watch: PodWatch,
  { name, uid }: PodView,
  { scheduleMs, signal }: UntilPodRunsOptions,
): Promise<void> {
  const late = AbortSignal.timeout(scheduleMs);
  let wasSeen = false;
  const look = (pod: PodView | undefined): true | ToolError | undefined => {
    if (pod?.uid !== uid) return wasSeen ? podEnd(watch.gone(uid)).unbegun : undefined; // until then the watch has not told of it
    wasSeen = true;
    if (pod.isRunning && !pod.isGoing && !pod.isNodeLost) return true;
    return startFault(pod);
  };
  const found = await watch.until(name, look, AbortSignal.any([signal, late])).catch((error: unknown) => {
    throw late.aborted && !signal.aborted ? lateFault(watch.get(name), scheduleMs) : error;
  });
  if (found !== true) throw found;
}

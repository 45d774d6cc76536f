import { expect, test } from "vitest";
import { podEnd } from "./pod-fault.ts";
import { type PodLike, viewPod } from "./pod-view.ts";

const disrupted = (reason: string): PodLike => ({
  metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
  status: { phase: "Running", conditions: [{ type: "DisruptionTarget", status: "True", reason }] },
});

test.each<[reason: string, pod: PodLike, words: RegExp]>([
  ["node_lost", disrupted("DeletionByTaintManager"), /machine .* was lost/],
  ["preempted", disrupted("PreemptionByScheduler"), /higher priority/],
  ["evicted", disrupted("EvictionByEvictionAPI"), /to be emptied/],
  ["evicted", { status: { phase: "Failed", reason: "Evicted" } }, /short of something/],
  ["deadline_exceeded", { status: { phase: "Failed", reason: "DeadlineExceeded" } }, /end of its time/],
  ["deleted", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Running" } }, /by somebody else/],
])("a pod's end is told as %s, by what a cluster says of it", (reason, pod, words) => {
  expect(podEnd(viewPod(pod)).error).toMatchObject({ code: "execution_failed", message: expect.stringMatching(words), details: { reason } });
});

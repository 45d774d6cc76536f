import { expect, test } from "vitest";
import { podEnd, startFault } from "./pod-fault.ts";
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
  [
    "deleted",
    { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Running" } },
    /by somebody else/,
  ],
])("a pod's end is told as %s, by what a cluster says of it", (reason, pod, words) => {
  expect(podEnd(viewPod(pod)).error).toMatchObject({
    code: "execution_failed",
    message: expect.stringMatching(words),
    details: { reason },
  });
});

const failed = (reason: string, message?: string): PodLike => ({
  status: { phase: "Failed", reason, ...(message === undefined ? {} : { message }) },
});

test.each<[reason: string, pod: PodLike, code: string, words: RegExp]>([
  [
    "node_full",
    failed("OutOfcpu", "Node didn't have enough resource: cpu"),
    "overloaded",
    /no room after all \(OutOfcpu\)/,
  ],
  ["node_full", failed("OutOfpods"), "overloaded", /no room after all \(OutOfpods\)/],
  ["node_refused", failed("UnexpectedAdmissionError"), "unavailable", /did not admit it \(UnexpectedAdmissionError\)/],
  ["node_shutdown", failed("Terminated"), "unavailable", /was shut down/],
  [
    "storage_exceeded",
    failed("Evicted", 'Usage of EmptyDir volume "packages" exceeds the limit "768Mi".'),
    "unavailable",
    /more on its machine's disk/,
  ],
  ["evicted", failed("Evicted", "The node was low on resource: memory."), "unavailable", /short of something/],
  ["evicted", disrupted("TerminationByKubelet"), "unavailable", /short of something/],
  ["preempted", disrupted("PreemptionByScheduler"), "unavailable", /higher priority/],
  ["node_lost", disrupted("DeletionByPodGC"), "unavailable", /was lost/],
])(
  "a pod that ends before its script begins is told as %s, and the script may be run again",
  (reason, pod, code, words) => {
    const { unbegun } = podEnd(viewPod(pod));
    expect(unbegun).toMatchObject({
      code,
      isRetryable: true,
      message: expect.stringMatching(words),
      details: { reason },
    });
    expect(unbegun.message).toMatch(/was not begun/);
  },
);

test("a pod whose container has ended is given up once its cluster has said why", () => {
  const containerStatuses = [{ name: "script", state: { terminated: { exitCode: 137, reason: "Error" } } }];
  expect(startFault(viewPod({ status: { phase: "Running", containerStatuses } }))).toBeUndefined();
  expect(startFault(viewPod({ status: { phase: "Failed", reason: "Evicted", containerStatuses } }))).toMatchObject({
    details: { reason: "evicted" },
  });
});

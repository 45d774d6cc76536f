import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { SandboxEnd } from "../../sandbox.ts";
import { unbegunError } from "../../unbegun.ts";
import { isExplained, type PodView } from "./pod-view.ts";

export const FOR_OPERATOR = "This is for the operator to set right: trying again does not help before that.";

/** Why a container does not start, by what its kubelet says; what is not here passes. */
const waitingFaults: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  ...Object.fromEntries(
    [
      "ErrImagePull",
      "ImagePullBackOff",
      "ErrImageNeverPull",
      "InvalidImageName",
      "RegistryUnavailable",
      "ImageInspectError",
    ].map((waiting) => [waiting, ["image_pull", `The image of the sandbox cannot be pulled (${waiting}).`]]),
  ),
  CreateContainerConfigError: [
    "container_config",
    `The sandbox refers to something that is not in the cluster (CreateContainerConfigError).`,
  ],
  CreateContainerError: ["container_config", `The sandbox cannot be made as it is configured (CreateContainerError).`],
  RunContainerError: ["container_start", `The interpreter of the sandbox cannot be started (RunContainerError).`],
  CrashLoopBackOff: ["container_start", `The interpreter of the sandbox does not stay up (CrashLoopBackOff).`],
};

/** Containers that ended before a line of Python ran. */
const START_REASONS: ReadonlySet<string> = new Set(["StartError", "ContainerCannotRun"]);

/** Why a pod that is wanted will not run. @returns undefined while it still may */
export function startFault(pod: PodView): ToolError | undefined {
  if (pod.isNodeLost || pod.isGoing || isExplained(pod)) return podEnd(pod).unbegun;
  const known = pod.waiting === undefined ? undefined : waitingFaults[pod.waiting];
  return known && forOperator(...known);
}

/** A pod that has not run in the time that it may wait for that. */
export function lateFault(pod: PodView | undefined, scheduleMs: number): ToolError {
  const within = `within ${Math.round(scheduleMs / 1_000)} s`;
  if (pod?.unschedulable !== undefined) {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `No machine of the cluster had room for the sandbox ${within}. Try again later.`,
      {
        cause: new Error(pod.unschedulable),
        details: { reason: "unschedulable" },
      },
    );
  }
  return unavailable(
    "not_started",
    `The sandbox did not start ${within}${pod?.waiting === undefined ? "" : ` (${pod.waiting})`}. Try again later.`,
  );
}

/** The end of a pod's sandbox, and the error to give if its script had not begun. */
export interface PodEnd extends SandboxEnd {
  readonly unbegun: ToolError;
}

/** How a pod ended that is over, going or lost; undefined: that is gone. */
export function podEnd(pod: PodView | undefined): PodEnd {
  if (pod === undefined) return ended("deleted", "Its sandbox was deleted by somebody else.");
  const { reason, disruption, terminated } = pod;
  if (terminated?.reason === "OOMKilled")
    return { ...ended("out_of_memory", "It used more memory than a sandbox has."), isOutOfMemory: true };
  const told = clusterEnd(pod);
  if (told !== undefined) return told;
  if (reason === "DeadlineExceeded") return ended("deadline_exceeded", "Its sandbox was at the end of its time.");
  if (terminated?.reason !== undefined && START_REASONS.has(terminated.reason)) {
    const error = forOperator(
      "container_start",
      `The interpreter of the sandbox cannot be started (${terminated.reason}).`,
    );
    return { isOutOfMemory: false, error, unbegun: error };
  }
  if (pod.isNodeLost || disruption === "DeletionByPodGC")
    return ended("node_lost", "The machine that its sandbox ran on was lost.");
  if (pod.isGoing) return ended("deleted", "Its sandbox was deleted by somebody else.");
  const code = terminated === undefined ? "" : ` (exit code ${terminated.exitCode})`;
  return ended("sandbox_ended", `Its sandbox ended by itself${code}${reason === undefined ? "" : `: ${reason}`}.`);
}

/**
 * What the cluster did for its own reasons: they are the pod's reason, its kubelet's words, or the condition
 * DisruptionTarget.
 */
function clusterEnd({ reason, disruption, message }: PodView): PodEnd | undefined {
  // A kubelet says alike what a machine lacks and what a pod has used beyond its own bounds.
  if (reason === "Evicted" && /exceed/i.test(message ?? ""))
    return ended(
      "storage_exceeded",
      "Its sandbox was evicted: it held more on its machine's disk than a sandbox may.",
      message,
    );
  if (reason === "Evicted" || disruption === "TerminationByKubelet")
    return ended("evicted", "Its sandbox was evicted: the machine that it ran on was short of something.", message);
  if (disruption === "EvictionByEvictionAPI")
    return ended("evicted", "Its sandbox was evicted: the machine that it ran on is to be emptied.");
  if (reason === "Preempting" || disruption === "PreemptionByScheduler")
    return ended("preempted", "Its sandbox had to make room for something of a higher priority.", message);
  if (reason === "Terminated" || reason === "NodeShutdown")
    return ended("node_shutdown", "The machine that its sandbox ran on was shut down.", message);
  if (reason !== undefined && /^OutOf/.test(reason)) return full(reason, message);
  if (reason !== undefined && ADMISSION_REASONS.has(reason))
    return ended("node_refused", `The machine that was chosen for its sandbox did not admit it (${reason}).`, message);
  return undefined;
}

/** A kubelet's, for a pod that no machine should have been given to. */
const ADMISSION_REASONS: ReadonlySet<string> = new Set([
  "NodeAffinity",
  "NodePorts",
  "UnexpectedAdmissionError",
  "AppArmor",
  "PodOSNotSupported",
]);

/**
 * The scheduler and a kubelet count differently for a moment: the machine has no room after all. There may be room
 * later.
 */
function full(reason: string, message: string | undefined): PodEnd {
  const what = `the machine that was chosen for its sandbox had no room after all (${reason}).`;
  const error = new ToolError(ToolErrorCode.Overloaded, `The script was not begun: ${what} Try again later.`, {
    cause: causeOf(message),
    retryAfterMs: 1_000,
    details: { reason: "node_full" },
  });
  return { isOutOfMemory: false, error, unbegun: error };
}

function ended(reason: string, words: string, message?: string): PodEnd {
  return {
    isOutOfMemory: false,
    error: new ToolError(ToolErrorCode.ExecutionFailed, `The script was cut off. ${words}`, {
      cause: causeOf(message),
      details: { reason },
    }),
    unbegun: unbegunError(reason, words, causeOf(message)),
  };
}

const causeOf = (message: string | undefined): Error | undefined =>
  message === undefined ? undefined : new Error(message);

/** The same, until its operator has done something. */
function forOperator(reason: string, message: string): ToolError {
  return new ToolError(ToolErrorCode.Unavailable, `${message} ${FOR_OPERATOR}`, {
    isRetryable: false,
    details: { reason },
  });
}

/** There is no sandbox, and the script was not begun. */
export function unavailable(reason: string, message: string): ToolError {
  return new ToolError(ToolErrorCode.Unavailable, message, { details: { reason } });
}

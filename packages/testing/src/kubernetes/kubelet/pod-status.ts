import { type Condition, type ContainerState, type Pod, type PodStatus, timestamp } from "../store/objects.ts";

/** What a kubelet reports of a pod, from the state of its container. */
export function statusOf(
  pod: Pod,
  state: ContainerState,
  end: Partial<Pick<PodStatus, "reason" | "message">> = {},
): PodStatus {
  const phase = end.reason === undefined ? phaseOf(state) : "Failed";
  const isRunning = phase === "Running";
  const kept = (pod.status?.conditions ?? []).filter(({ type }) => type !== "Ready");
  return {
    ...pod.status,
    phase,
    ...end,
    conditions: [conditionOf(pod, "Ready", isRunning), ...kept],
    containerStatuses: pod.spec.containers.map(({ name, image = "" }) => ({
      name,
      image,
      imageID: image,
      ready: isRunning,
      restartCount: 0,
      state,
    })),
  };
}

export const waiting = (reason: string, message?: string): ContainerState => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
});

function phaseOf({ terminated, running }: ContainerState): string {
  if (terminated !== undefined) return terminated.exitCode === 0 ? "Succeeded" : "Failed";
  return running === undefined ? "Pending" : "Running";
}

/** A condition that is as it was keeps its time. */
export function conditionOf(pod: Pod, type: string, isTrue: boolean, more: object = {}): Condition {
  const before = pod.status?.conditions?.find((one) => one.type === type);
  const status = isTrue ? "True" : "False";
  const since = before?.status === status ? before.lastTransitionTime : undefined;
  return { type, status, ...more, lastTransitionTime: since ?? timestamp() };
}

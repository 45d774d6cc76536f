import {
  type Condition,
  type Container,
  type ContainerState,
  type ContainerStatus,
  type Pod,
  type PodStatus,
  timestamp,
} from "../store/objects.ts";

/** What a kubelet reports of a pod, from the states of its containers. */
export function statusOf(
  pod: Pod,
  states: ReadonlyMap<string, ContainerState>,
  end: Partial<Pick<PodStatus, "reason" | "message">> = {},
): PodStatus {
  const all = pod.spec.containers.map(({ name }) => states.get(name) ?? waiting("ContainerCreating"));
  const phase = end.reason === undefined ? phaseOf(all) : "Failed";
  const isRunning = phase === "Running";
  const why = isRunning
    ? {}
    : phase === "Succeeded"
      ? { reason: "PodCompleted" }
      : phase === "Failed"
        ? { reason: "PodFailed" }
        : notReady(pod);
  const condition = (type: string, isTrue: boolean, more: object = {}): Condition =>
    conditionOf(pod, type, isTrue, more);
  return {
    ...pod.status,
    phase,
    ...end,
    hostIP: "127.0.0.1",
    podIP: "10.244.0.2",
    startTime: pod.status?.startTime ?? timestamp(),
    conditions: [
      condition("PodReadyToStartContainers", isRunning),
      condition("Initialized", true),
      condition("Ready", isRunning, why),
      condition("ContainersReady", isRunning, why),
      ...(pod.status?.conditions ?? []).filter(({ type }) => type === "PodScheduled" || type === "DisruptionTarget"),
    ],
    containerStatuses: pod.spec.containers.map((container, index) =>
      containerStatus(container, all[index] ?? waiting("ContainerCreating")),
    ),
  };
}

export const waiting = (reason: string, message?: string): ContainerState => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
});

function phaseOf(states: readonly ContainerState[]): string {
  if (states.every(({ terminated }) => terminated !== undefined))
    return states.every(({ terminated }) => terminated?.exitCode === 0) ? "Succeeded" : "Failed";
  return states.some((state) => state.waiting !== undefined) ? "Pending" : "Running";
}

const notReady = (pod: Pod): object => ({
  reason: "ContainersNotReady",
  message: `containers with unready status: [${pod.spec.containers.map(({ name }) => name).join(" ")}]`,
});

/** A condition that is as it was keeps its time. */
export function conditionOf(pod: Pod, type: string, isTrue: boolean, more: object = {}): Condition {
  const before = pod.status?.conditions?.find((one) => one.type === type);
  const status = isTrue ? "True" : "False";
  return {
    type,
    status,
    ...more,
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? timestamp()) : timestamp(),
  };
}

function containerStatus({ name, image = "" }: Container, state: ContainerState): ContainerStatus {
  const isRunning = state.running !== undefined;
  const hasRun = isRunning || state.terminated !== undefined;
  return {
    name,
    image,
    imageID: hasRun ? image : "",
    ...(hasRun ? { containerID: `containerd://${name}` } : {}),
    ready: isRunning,
    started: isRunning,
    restartCount: 0,
    state,
    lastState: {},
  };
}

import { CONTAINER, PodAnnotation, PodLabel } from "./pod-marks.ts";

/** What the manager keeps of a pod: a namespace full of pods must not fill its memory. */
export interface PodView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owner: string | undefined;
  /** A `PodState`. */
  readonly state: string | undefined;
  readonly job: string | undefined;
  readonly attempt: string | undefined;
  /** Milliseconds since 1970. */
  readonly deadline: number | undefined;
  readonly createdAt: number;
  /** Its deletion has begun. */
  readonly isGoing: boolean;
  readonly phase: string;
  /** The reason for the pod as a whole, such as Evicted. */
  readonly reason: string | undefined;
  /** The words beside it. */
  readonly message: string | undefined;
  /** What the scheduler says while it has no node for it. */
  readonly unschedulable: string | undefined;
  /** Why a cluster is about to end the pod, such as PreemptionByScheduler. */
  readonly disruption: string | undefined;
  /** Its node does not answer. */
  readonly isNodeLost: boolean;
  /** Why its container does not run yet, such as ImagePullBackOff. */
  readonly waiting: string | undefined;
  readonly isRunning: boolean;
  readonly terminated: TerminatedContainer | undefined;
}

export interface TerminatedContainer {
  /** Such as OOMKilled. */
  readonly reason: string | undefined;
  readonly exitCode: number;
  /** Milliseconds since 1970. */
  readonly finishedAt: number | undefined;
}

/** A pod as lists give it, with dates, and as the watch does, with their text. */
export interface PodLike {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly creationTimestamp?: Date | string;
    readonly deletionTimestamp?: Date | string;
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly { readonly name: string; readonly state?: ContainerStateLike }[];
  };
}

interface ContainerStateLike {
  readonly waiting?: { readonly reason?: string };
  readonly running?: object;
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly finishedAt?: Date | string };
}

export function viewPod({ metadata = {}, status = {} }: PodLike): PodView {
  const state = status.containerStatuses?.find(({ name }) => name === CONTAINER)?.state ?? {};
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const scheduled = condition("PodScheduled");
  const disruption = condition("DisruptionTarget")?.reason;
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    owner: metadata.labels?.[PodLabel.Owner],
    state: metadata.labels?.[PodLabel.State],
    job: metadata.labels?.[PodLabel.Job],
    attempt: metadata.annotations?.[PodAnnotation.Attempt],
    deadline: time(metadata.annotations?.[PodAnnotation.Deadline]),
    createdAt: time(metadata.creationTimestamp) ?? 0,
    isGoing: metadata.deletionTimestamp !== undefined,
    phase: status.phase ?? "Pending",
    reason: status.reason,
    message: status.message,
    unschedulable:
      scheduled?.status === "False" && scheduled.reason === "Unschedulable" ? (scheduled.message ?? "") : undefined,
    disruption,
    isNodeLost: status.phase === "Unknown" || status.reason === "NodeLost" || disruption === "DeletionByTaintManager",
    waiting: state.waiting?.reason,
    isRunning: state.running !== undefined,
    terminated: state.terminated && {
      reason: state.terminated.reason,
      exitCode: state.terminated.exitCode,
      finishedAt: time(state.terminated.finishedAt),
    },
  };
}

/** Nothing runs in the pod any more, nor ever will. */
export const isOver = ({ phase, terminated }: PodView): boolean =>
  phase === "Succeeded" || phase === "Failed" || terminated !== undefined;

/**
 * It is over, and its cluster has said why. A kubelet tells that a container has ended before it tells the end of the
 * pod: only with that comes the reason, such as Evicted.
 */
export const isExplained = ({ phase, terminated }: PodView): boolean =>
  phase === "Succeeded" || phase === "Failed" || terminated?.reason === "OOMKilled";

function time(date: Date | string | undefined): number | undefined {
  const ms = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

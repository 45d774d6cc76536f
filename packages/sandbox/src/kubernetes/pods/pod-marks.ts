/** Labels of the manager's pods: they are looked for by them. */
export const PodLabel = {
  App: "app",
  /**
   * The manager process that made or took up the pod: another after each start, so that none takes those of the last
   * for its own.
   */
  Owner: "rockbot.dev/owner",
  /** A `PodState`. */
  State: "rockbot.dev/state",
  /** The job that the pod was given. */
  Job: "rockbot.dev/job",
} as const;

export const PodAnnotation = {
  /** When anybody may delete the pod, as an ISO date; its owner moves it on as the pod gets further. */
  Deadline: "rockbot.dev/deadline",
  /** The one attempt to make the pod: tells that an existing pod was made by an attempt whose answer was lost. */
  Attempt: "rockbot.dev/attempt",
} as const;

export const PodState = {
  /** Nobody has reached its interpreter yet. */
  Starting: "starting",
  /** It waits for a job; its owner holds its stdin, with whom it ends. */
  Warm: "warm",
  /** It has a job. */
  Busy: "busy",
} as const;
export type PodState = (typeof PodState)[keyof typeof PodState];

export const APP = "rockbot-script";
/** The one container of a pod. */
export const CONTAINER = "script";
/** Selects all pods of managers. */
export const ALL_PODS = `${PodLabel.App}=${APP}`;

/** The annotation of a deadline that is so far away. */
export const deadlineIn = (ms: number): Readonly<Record<string, string>> => ({
  [PodAnnotation.Deadline]: new Date(Date.now() + ms).toISOString(),
});

/** The name of the pod that is made for a job, or the next one where that is taken for good. */
export const podNameOfJob = (jobId: string, again = 0): string =>
  again === 0 ? `${APP}-${jobId}` : `${APP}-${jobId}-${again}`;

/** @throws {TypeError} if it is not 32 hex digits, which names and labels take as they are */
export function checkJobId(jobId: string): void {
  if (!/^[0-9a-f]{32}$/.test(jobId)) throw new TypeError("Cannot name a pod after a job: its id must be 32 hex digits");
}

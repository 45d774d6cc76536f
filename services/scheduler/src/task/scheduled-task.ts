import { hash } from "node:crypto";
import type { CronTimes } from "../cron/read-cron.ts";

/** A task as the store keeps it. Times are Unix milliseconds. */
export interface ScheduledTask {
  /** The key of its caller, session and name: see taskKey. */
  readonly key: string;
  /** Another each time that it is scheduled: the id of that call. */
  readonly id: string;
  /** On whose behalf it runs. */
  readonly caller: string;
  /** The conversation in which it was made, and to which its answers go. */
  readonly sessionId: string;
  readonly name: string;
  readonly cron: string;
  readonly zone: string;
  readonly description: string;
  readonly isOnce: boolean;
  /** The turn that made it had read untrusted content: so have its runs. */
  readonly hasReadUntrusted: boolean;
  /**
   * What bounded the session that made it: so its runs are. Absent of one from before, whose runs count as those of a
   * turn that has read untrusted content.
   */
  readonly grant?: string | undefined;
  readonly createdAt: number;
  /** Absent once a task that runs once was due. */
  readonly nextAt?: number | undefined;
  /** Set while no agent has taken the fire of `nextAt`: when it is asked for again. */
  readonly notBefore?: number | undefined;
  readonly running?: RunningFire | undefined;
  readonly lastRun?: TaskRun | undefined;
  /** The runs before it, the newest first: see withLastRun. */
  readonly earlierRuns?: readonly TaskRun[] | undefined;
  readonly lastSkip?: TaskSkip | undefined;
  /** When a task that has no next fire is forgotten: until then it is shown with its answer. */
  readonly keptUntil?: number | undefined;
}

/** A fire that a replica has taken: all that another one needs to take it over, also after the task was replaced. */
export interface RunningFire {
  readonly fireAt: number;
  /** The call's id: one fire has one, in each process that makes the call. */
  readonly fireId: string;
  /** The replica that makes the call. */
  readonly replica: string;
  readonly takenAt: number;
  /** How often it was taken over. */
  readonly takeovers: number;
  /** The text that the agent gets. The same for each replica, as the agent knows a call by its arguments, too. */
  readonly message: string;
  readonly hasReadUntrusted: boolean;
  readonly grant?: string | undefined;
}

/** How a run ended. */
export interface TaskRun {
  readonly fireAt: number;
  readonly endedAt: number;
  readonly outcome: "answered" | "failed";
  /** The answer, or why there is none; of a long one the beginning. */
  readonly text: string;
  readonly tokens?: number | undefined;
  /** The text came from where untrusted content was read. */
  readonly isUntrusted: boolean;
}

/** The last fires that did not run. */
export interface TaskSkip {
  readonly first: number;
  readonly last: number;
  readonly reason: string;
}

/** How long a task that has no next fire is shown, and an answer that is not a task's last one. */
export const ANSWERS_KEPT_MS = 7 * 24 * 3_600_000;
/** The bounds of a task's answers before its last one. */
const EARLIER = { count: 4, bytes: 12 * 1024 } as const;

/** True if the task fires no more: it is there for its answer. */
export const isOver = ({ nextAt, running }: ScheduledTask): boolean => nextAt === undefined && running === undefined;

/** The task with one more run. A fire has one run: what was noted of it before gives way. */
export function withLastRun(task: ScheduledTask, lastRun: TaskRun): ScheduledTask {
  const before = [task.lastRun, ...(task.earlierRuns ?? [])].filter((run) => run !== undefined);
  const recent = before.filter(
    ({ fireAt, endedAt }) => fireAt !== lastRun.fireAt && endedAt > lastRun.endedAt - ANSWERS_KEPT_MS,
  );
  let left: number = EARLIER.bytes;
  const earlierRuns = recent.slice(0, EARLIER.count).filter(({ text }) => {
    left -= Buffer.byteLength(text);
    return left >= 0;
  });
  return { ...task, lastRun, earlierRuns: earlierRuns.length === 0 ? undefined : earlierRuns };
}

/** The place of a task: another caller's, another session's task of that name is another. */
export function taskKey({ caller, sessionId, name }: Pick<ScheduledTask, "caller" | "sessionId" | "name">): string {
  return hash("sha256", JSON.stringify([caller, sessionId, name.trim().toLowerCase()]), "hex").slice(0, 32);
}

/** The id of the one call that a fire is, for every replica. */
export function fireIdOf({ key, id }: Pick<ScheduledTask, "key" | "id">, fireAt: number): string {
  return hash("sha256", JSON.stringify([key, id, fireAt]), "hex").slice(0, 32);
}

/** When there is something to do for the task: undefined if not by time. */
export function wakeAtOf({ nextAt, notBefore = 0, running, keptUntil }: ScheduledTask): number | undefined {
  if (nextAt !== undefined) return Math.max(nextAt, notBefore);
  return running === undefined ? keptUntil : undefined;
}

/**
 * The task after its fires up to `fireAt` have been dealt with, by `now`. A fire time never comes again, also if the
 * clock goes back.
 */
export function advanced(
  task: ScheduledTask,
  times: CronTimes,
  { fireAt, now }: { readonly fireAt: number; readonly now: number },
): ScheduledTask {
  return { ...task, nextAt: task.isOnce ? undefined : times.next(Math.max(now, fireAt)), notBefore: undefined };
}

import { StoreFullError } from "@rockbot/records";
import type { ScheduledTask } from "../task/scheduled-task.ts";

/**
 * Keeps the tasks of all callers, and says what is due. A change names the version that was read, so that of several
 * replicas one makes it. Every operation rejects with StoreUnavailableError if the store does not answer in time,
 * refuses, or is closed: nothing is known then about what it did.
 */
export interface ScheduleStore extends AsyncDisposable {
  /** Where the tasks lie, for a person. */
  readonly where: string;
  /** True if other processes have the same tasks, and take over the fires of one that is gone. */
  readonly isShared: boolean;
  /** The clock that all replicas go by, in Unix milliseconds. It may be set forward and back. */
  now(): Promise<number>;
  read(key: string): Promise<StoredTask | undefined>;
  /** The tasks of a caller, in all sessions. */
  tasksOf(caller: string): Promise<readonly ScheduledTask[]>;
  /**
   * Makes the change whole or not at all.
   * @throws {CallerFullError} if a change with `maxTasks` leaves its caller more bytes of tasks than it may have
   */
  write(change: TaskChange): Promise<ChangeOutcome>;
  /** Says that the replica lives, and what there is to do. At most `limit` tasks of each kind. */
  look(asked: Look): Promise<Work>;
  /** The replica ends: what it has taken may be taken over. */
  leave(replica: string): Promise<void>;
  /** What the caller's tasks have used on that day. */
  usage(caller: string, day: string): Promise<Usage>;
  /** Counts tokens where no task is changed. */
  charge(caller: string, day: string, tokens: number): Promise<void>;
}

/** A task with the version that a change of it has to name. */
export interface StoredTask {
  readonly task: ScheduledTask;
  readonly version: string;
}

/** A change of one task. */
export interface TaskChange {
  readonly key: string;
  readonly caller: string;
  /** The version that was read; undefined if there was no such task. */
  readonly version: string | undefined;
  /** What it becomes; undefined removes it. */
  readonly task: ScheduledTask | undefined;
  /** How many tasks the caller may have, for a new one. The bytes of all of them are bounded then, too. */
  readonly maxTasks?: number | undefined;
  readonly spend?: Spending | undefined;
}

/** What a change uses of the caller's day. */
export interface Spending extends Usage {
  readonly day: string;
  /** The change is not made if the day had more fires with it, or has as many tokens already. */
  readonly most?: Usage | undefined;
}

/** Fires and tokens of a day. */
export interface Usage {
  readonly fires: number;
  readonly tokens: number;
}

/**
 * `stale`: the task is of another version by now. `no_room`: the caller has too many tasks, or the store too many that
 * are not over. `spent`: the day's bound is reached.
 */
export type ChangeOutcome = "written" | "stale" | "no_room" | "spent";

/** A replica that looks for work. */
export interface Look {
  readonly replica: string;
  /** It counts as gone when it has not looked for so long. */
  readonly aliveMs: number;
  readonly limit: number;
}

/** What there is to do. */
export interface Work {
  readonly now: number;
  /** Tasks whose time has come, the oldest first. */
  readonly due: readonly StoredTask[];
  /**
   * Tasks with a fire of a replica that is gone, and those with a fire of the one that looks. It may not know of the
   * latter: a change that had no answer was made all the same.
   */
  readonly orphans: readonly StoredTask[];
  /** When the next task's time comes, of those that are not due. */
  readonly nextAt: number | undefined;
}

/** How many tasks one store keeps. Among the tasks that are over, of any caller, the oldest gives way to a new one. */
export const MAX_TASKS = 10_000;
/** How many bytes the tasks of one caller have in a file. In Redis a caller has a share. */
export const MAX_TASK_BYTES = 16 * 1024 * 1024;

/** The tasks of one caller have too many bytes. */
export class CallerFullError extends StoreFullError {}

export const tasksFull = (most: number): CallerFullError =>
  new CallerFullError(
    `the scheduled tasks of one caller, in all its conversations and with their answers, may have ${most} bytes. Cancel one that is not needed, or shorten its description.`,
  );
/**
 * A replica's sign of life is not believed if it lies so much further ahead than it can: the clock has gone back since.
 */
export const CLOCK_SLACK_MS = 60_000;
/** How long a day's usage is kept, in milliseconds: longer than any day of any zone. */
export const USAGE_KEPT_MS = 3 * 24 * 3_600_000;

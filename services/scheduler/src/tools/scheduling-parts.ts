import type { ScheduleStore, Usage } from "../store/schedule-store.ts";
import type { ScheduledTask } from "../task/scheduled-task.ts";

/** What the tools share: the tasks, and the bounds of one caller. */
export interface SchedulingParts {
  readonly store: ScheduleStore;
  /** The zone of new tasks. */
  readonly zone: string;
  readonly maxTasks: number;
  readonly shortestIntervalMs: number;
  readonly mostPerDay: Usage;
  /** Why no task of this caller could run, in words; undefined if it could. */
  readonly refusalFor: (caller: string) => string | undefined;
  /** Tells whether an agent is on the bus, as far as the scheduler has heard. */
  readonly isAgentThere: () => boolean;
  /** Called when a task was made. */
  readonly onScheduled: () => void;
}

/** The owner of tasks: another caller's, another session's of the same name are others. */
export interface TaskOwner {
  readonly caller: string;
  readonly sessionId: string;
}

/** The session of calls that name none, as the .NET original has it. */
const NO_SESSION = "scheduled";
const MAX_SESSION = 128;

/** @param sessionId as the request has it: the session's id, or its working-memory namespace */
export function ownerOf({
  caller,
  sessionId,
}: {
  readonly caller: string;
  readonly sessionId?: string | undefined;
}): TaskOwner {
  const id = (sessionId ?? "").replace(/^session\//, "");
  return { caller, sessionId: id === "" || id.length > MAX_SESSION ? NO_SESSION : id };
}

/** The grant of a session that nothing bounds. */
export const NO_BOUNDS = "[]";

/**
 * The tasks that a session may see and cancel: all of its caller, or those of this conversation alone if it is bounded,
 * as that of a robot is.
 */
export async function visibleTasks(
  store: ScheduleStore,
  context: { readonly caller: string; readonly sessionId?: string | undefined; readonly grant?: string | undefined },
): Promise<{ readonly all: readonly ScheduledTask[]; readonly visible: readonly ScheduledTask[] }> {
  const { caller, sessionId } = ownerOf(context);
  const all = await store.tasksOf(caller);
  return {
    all,
    visible: (context.grant ?? NO_BOUNDS) === NO_BOUNDS ? all : all.filter((task) => task.sessionId === sessionId),
  };
}

/** Tells whether two names are those of one task. */
export const isSameName = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase();

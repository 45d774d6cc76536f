import type { ScheduleStore, Usage } from "../store/schedule-store.ts";

/** What the tools share: the tasks, and the bounds of one caller. */
export interface TaskDesk {
  readonly store: ScheduleStore;
  /** The zone of new tasks. */
  readonly zone: string;
  readonly maxTasks: number;
  readonly shortestIntervalMs: number;
  readonly mostPerDay: Usage;
  /** Why no task of this caller could run, in words; undefined if it could. */
  readonly refusalFor: (caller: string) => string | undefined;
  /** Whether an agent is on the bus, as far as the scheduler has heard. */
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
export function ownerOf({ caller, sessionId }: { readonly caller: string; readonly sessionId?: string | undefined }): TaskOwner {
  const id = (sessionId ?? "").replace(/^session\//, "");
  return { caller, sessionId: id === "" || id.length > MAX_SESSION ? NO_SESSION : id };
}

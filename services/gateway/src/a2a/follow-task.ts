import type { StreamResponse } from "@a2a-js/sdk";
import type { AgentEvent } from "@rockbot/contracts";
import type { SessionHub } from "../sessions/session-hub.ts";
import type { RunningTasks } from "./running-tasks.ts";
import type { StoredTask } from "./store/task-store.ts";
import { TaskEvents } from "./task-events.ts";

export interface FollowTaskOptions {
  readonly running: RunningTasks;
  readonly sessions: SessionHub;
  /** Ends it. */
  readonly gone: AbortSignal;
  /** Whether the answer is told as it comes, or at the end. @default true */
  readonly hasPieces?: boolean | undefined;
}

/** A step of a task, or its end. */
export interface TaskNews {
  readonly response: StreamResponse;
  /** Of the step in the session, from 1 on; Infinity at the end. */
  readonly sequence: number;
}

/** How often it is looked whether the task has ended elsewhere. */
const LOOK_MS = 10_000;
/** Events of a turn may come behind its answer, by another way. */
const REST_MS = 250;

/** Each step of the task's turn, from the first that the session's log has, and its end. A task that is at work is taken up. */
export async function* followTask(task: StoredTask, options: FollowTaskOptions): AsyncGenerator<TaskNews, void, undefined> {
  const { running, sessions, gone, hasPieces } = options;
  using listener = await sessions.listen(task.by || undefined, task.contextId);
  const ended = task.standing === "working" ? running.start(task).ended : Promise.resolve(task);
  const events = new TaskEvents(task, hasPieces);
  const settled = new AbortController();
  void ended.then(() => settled.abort());
  const over = AbortSignal.any([gone, settled.signal]);
  const told = function* (steps: readonly AgentEvent[]): Generator<TaskNews> {
    for (const step of steps) for (const response of events.step(step)) yield { response, sequence: step.sequence };
  };
  // What the turn has done before is in the session's log; an agent that is away says so by the end of the task.
  yield* told(await listener.readOn().catch(() => []));
  while (!over.aborted) {
    await listener.wait(LOOK_MS, over);
    yield* told(await listener.take());
  }
  const end = gone.aborted ? undefined : await ended;
  if (end === undefined) return;
  await listener.wait(REST_MS, gone);
  yield* told(await listener.take());
  for (const response of events.end(end)) yield { response, sequence: Number.POSITIVE_INFINITY };
}

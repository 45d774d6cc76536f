import type { StreamResponse } from "@a2a-js/sdk";
import type { AgentEvent } from "@rockbot/contracts";
import type { StoredTask } from "../store/task-store.ts";
import type { RunningTasks } from "./running-tasks.ts";
import type { SessionEvents } from "./session-events.ts";
import { TaskEvents } from "./task-events.ts";

export interface FollowTaskOptions {
  readonly running: RunningTasks;
  readonly sessions: SessionEvents;
  /** Ends it. */
  readonly gone: AbortSignal;
  /** True to send the answer as it comes, false to send it at the end. @default true */
  readonly hasPieces?: boolean | undefined;
}

/** A step of a task, a question at which it waits, or its end. */
export interface TaskNews {
  readonly response: StreamResponse;
  /** By `stepPlace` or `pausePlace`; Infinity at the end. Later news has a higher place. */
  readonly place: number;
}

/** More steps than a session has. */
const PLACES_OF_TURN = 2 ** 32;

/** The place of a step of the task's newest turn among all news of the task. */
const stepPlace = ({ earlier }: Pick<StoredTask, "earlier">, sequence: number): number =>
  earlier.length * PLACES_OF_TURN + sequence;

/** The place of the question at the end of the task's newest turn: behind all its steps. */
export const pausePlace = ({ earlier }: Pick<StoredTask, "earlier">): number =>
  (earlier.length + 1) * PLACES_OF_TURN - 1;

/** How often it is looked whether the task has ended elsewhere. */
const LOOK_MS = 10_000;
/** Events of a turn may come behind its answer, by another way. */
const REST_MS = 250;

/**
 * Each step of the task's newest turn, from the first that the session's log has, and its end. A task that is at work
 * is taken up.
 */
export async function* followTask(
  task: StoredTask,
  options: FollowTaskOptions,
): AsyncGenerator<TaskNews, void, undefined> {
  const { running, sessions, gone, hasPieces } = options;
  using listener = await sessions.listen(task.by || undefined, task.contextId);
  const ended = task.standing === "working" ? running.start(task).ended : Promise.resolve(task);
  const events = new TaskEvents(task, hasPieces);
  const settled = new AbortController();
  void ended.then(() => settled.abort());
  const over = AbortSignal.any([gone, settled.signal]);
  const told = function* (steps: readonly AgentEvent[]): Generator<TaskNews> {
    for (const step of steps)
      for (const response of events.step(step)) yield { response, place: stepPlace(task, step.sequence) };
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
  const place = end.standing === "input-required" ? pausePlace(end) : Number.POSITIVE_INFINITY;
  for (const response of events.end(end)) yield { response, place };
}

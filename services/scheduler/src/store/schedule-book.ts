import { newId } from "@rockbot/contracts";
import { isOver, type ScheduledTask, wakeAtOf } from "../task/scheduled-task.ts";
import {
  type ChangeOutcome,
  CLOCK_SLACK_MS,
  type Look,
  MAX_TASK_BYTES,
  MAX_TASKS,
  type Spending,
  type StoredTask,
  type TaskChange,
  tasksFull,
  type Usage,
  type Work,
} from "./schedule-store.ts";

/** The most callers' days whose usage is kept; the oldest goes first. */
const MAX_USAGES = 20_000;

/** The state of a store of one process, in memory. Each change can be undone as long as no other one follows. */
export class ScheduleBook {
  readonly #tasks = new Map<string, StoredTask>();
  readonly #usages = new Map<string, Usage>();
  /** Until when each replica counts as alive. */
  readonly #aliveUntil = new Map<string, number>();

  constructor({ tasks = [], usages = [] }: BookContent = {}) {
    for (const task of tasks) this.#tasks.set(task.key, { task, version: newId() });
    for (const [key, usage] of usages) this.#usages.set(key, usage);
  }

  /** All that outlives a process. */
  get content(): Required<BookContent> {
    return { tasks: [...this.#tasks.values()].map(({ task }) => task), usages: [...this.#usages] };
  }

  read(key: string): StoredTask | undefined {
    return this.#tasks.get(key);
  }

  tasksOf(caller: string): readonly ScheduledTask[] {
    return [...this.#tasks.values()].map(({ task }) => task).filter((task) => task.caller === caller);
  }

  /** @returns the outcome, and for a change that was made what undoes it */
  write({ key, caller, version, task, maxTasks, spend }: TaskChange): {
    readonly outcome: ChangeOutcome;
    undo(): void;
  } {
    const before = this.#tasks.get(key);
    if (before?.version !== version) return refused("stale");
    const isNew = before === undefined && task !== undefined;
    if (isNew && maxTasks !== undefined && this.tasksOf(caller).length >= maxTasks) return refused("no_room");
    const isFull = isNew && this.#tasks.size >= MAX_TASKS;
    const victim = isFull ? this.#oldestOver() : undefined;
    if (isFull && victim === undefined) return refused("no_room");
    if (
      task !== undefined &&
      maxTasks !== undefined &&
      bytesOf(task) > (before === undefined ? 0 : bytesOf(before.task))
    ) {
      const others = this.tasksOf(caller).filter((other) => other.key !== key);
      if ([...others, task].reduce((sum, each) => sum + bytesOf(each), 0) > MAX_TASK_BYTES)
        throw tasksFull(MAX_TASK_BYTES);
    }
    const usageKey = spend === undefined ? "" : usageKeyOf(caller, spend.day);
    const used = this.#usages.get(usageKey);
    if (spend !== undefined && isSpent(used, spend)) return refused("spent");
    if (spend !== undefined) this.#count(usageKey, spend);
    if (victim !== undefined) this.#tasks.delete(victim.task.key);
    if (task === undefined) this.#tasks.delete(key);
    else this.#tasks.set(key, { task, version: newId() });
    return {
      outcome: "written",
      undo: () => {
        if (victim !== undefined) this.#tasks.set(victim.task.key, victim);
        if (before === undefined) this.#tasks.delete(key);
        else this.#tasks.set(key, before);
        if (used === undefined) this.#usages.delete(usageKey);
        else this.#usages.set(usageKey, used);
      },
    };
  }

  look({ replica, aliveMs, limit }: Look, now: number): Work {
    for (const [name, until] of this.#aliveUntil)
      if (until <= now || until > now + aliveMs + CLOCK_SLACK_MS) this.#aliveUntil.delete(name);
    this.#aliveUntil.set(replica, now + aliveMs);
    const waking = [...this.#tasks.values()].flatMap((stored) => {
      const at = wakeAtOf(stored.task);
      return at === undefined ? [] : [{ stored, at }];
    });
    const due = waking.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    const later = waking.filter(({ at }) => at > now).map(({ at }) => at);
    return {
      now,
      due: due.slice(0, limit).map(({ stored }) => stored),
      orphans: [...this.#tasks.values()]
        .filter(
          ({ task: { running } }) =>
            running !== undefined && (running.replica === replica || !this.#aliveUntil.has(running.replica)),
        )
        .slice(0, limit),
      nextAt: later.length === 0 ? undefined : later.reduce((a, b) => Math.min(a, b)),
    };
  }

  leave(replica: string): void {
    this.#aliveUntil.delete(replica);
  }

  usage(caller: string, day: string): Usage {
    return this.#usages.get(usageKeyOf(caller, day)) ?? NOTHING;
  }

  charge(caller: string, day: string, tokens: number): void {
    this.#count(usageKeyOf(caller, day), { fires: 0, tokens });
  }

  #oldestOver(): StoredTask | undefined {
    const over = [...this.#tasks.values()].filter(({ task }) => isOver(task));
    return over.sort((a, b) => (a.task.keptUntil ?? 0) - (b.task.keptUntil ?? 0))[0];
  }

  #count(key: string, { fires, tokens }: Usage): void {
    const used = this.#usages.get(key) ?? NOTHING;
    this.#usages.delete(key);
    this.#usages.set(key, { fires: used.fires + fires, tokens: used.tokens + tokens });
    const [oldest] = this.#usages.keys();
    if (this.#usages.size > MAX_USAGES && oldest !== undefined) this.#usages.delete(oldest);
  }
}

/** What a book has, to be kept and opened again. */
export interface BookContent {
  readonly tasks?: readonly ScheduledTask[] | undefined;
  readonly usages?: readonly (readonly [string, Usage])[] | undefined;
}

const NOTHING: Usage = { fires: 0, tokens: 0 };

const usageKeyOf = (caller: string, day: string): string => `${day} ${caller}`;

const isSpent = ({ fires, tokens }: Usage = NOTHING, { fires: more, most }: Spending): boolean =>
  most !== undefined && (fires + more > most.fires || tokens >= most.tokens);

const bytesOf = (task: ScheduledTask): number => Buffer.byteLength(JSON.stringify(task));

const refused = (outcome: ChangeOutcome) => ({ outcome, undo: () => {} });

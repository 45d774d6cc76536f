import {
  charactersOf,
  HOOK_LEASE_MS,
  isOpen,
  KEPT_MS,
  MAX_OPEN,
  MAX_TASKS,
  type PushHook,
  type StoredHook,
  type StoredTask,
  stateToken,
  type TaskNote,
  type TaskStore,
  tasksFull,
} from "./task-store.ts";

export interface MemoryTaskStoreOptions {
  /** Unix milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
  /**
   * The bound for all callers together, in characters of their texts. The tasks of the caller with the most give way.
   * @default 128 Mi
   */
  readonly maxCharacters?: number | undefined;
}

/** Tasks in the memory of this process, and gone with it. */
export function createMemoryTaskStore({
  clock = Date.now,
  maxCharacters = 128 * 1024 * 1024,
}: MemoryTaskStoreOptions = {}): TaskStore {
  /** The one with the oldest change first. */
  const tasks = new Map<string, StoredTask>();
  /** The hooks by task and id. */
  const hooks = new Map<string, Map<string, StoredHook>>();
  const leases = new HookLeases(clock);
  const of = (by: string): StoredTask[] => [...tasks.values()].filter((task) => task.by === by);
  function forget(id: string): void {
    tasks.delete(id);
    hooks.delete(id);
  }
  function makeRoom(by: string, begun?: StoredTask): void {
    for (const [id, task] of tasks) if (clock() - task.updatedAt >= KEPT_MS) forget(id);
    const others = [...tasks.values()].filter(({ id }) => id !== begun?.id);
    const { forgotten, isFull } = roomFor(begun === undefined ? others : [...others, begun], by, maxCharacters);
    for (const id of forgotten) forget(id);
    if (begun !== undefined && isFull)
      throw tasksFull(`its part of the ${maxCharacters} characters that all callers share`);
  }
  return {
    async write(task, before) {
      const now = tasks.get(task.id);
      if (now !== undefined && (before === undefined || stateToken(now) !== stateToken(before))) return false;
      if (task.standing === "working") makeRoom(task.by, task);
      tasks.delete(task.id);
      tasks.set(task.id, task);
      makeRoom(task.by);
      return true;
    },
    async read(by, id) {
      makeRoom(by);
      const task = tasks.get(id);
      return task?.by === by ? task : undefined;
    },
    async list(by) {
      makeRoom(by);
      return of(by).map(withoutTexts).reverse();
    },
    open: async () => [...tasks.values()].filter(({ standing }) => standing === "working").slice(-MAX_OPEN),
    waiting: async (since) =>
      [...tasks.values()]
        .filter(({ standing, updatedAt }) => standing === "input-required" && updatedAt < since)
        .slice(0, MAX_OPEN),
    async writeHook(hook) {
      leases.end(hook);
      const ofTask = hooks.get(hook.taskId) ?? new Map<string, StoredHook>();
      hooks.set(hook.taskId, ofTask.set(hook.id, { ...hook, told: 0 }));
    },
    async tell({ taskId, id }, told) {
      const hook = hooks.get(taskId)?.get(id);
      if (hook !== undefined) hooks.get(taskId)?.set(id, { ...hook, told });
    },
    holdHook: async (hook, holder) => leases.hold(hook, holder),
    releaseHook: async (hook, holder) => leases.release(hook, holder),
    dropHook: async ({ taskId, id }) => void hooks.get(taskId)?.delete(id),
    hooks: async (taskId) => [...(hooks.get(taskId)?.values() ?? [])],
    hooked: async () =>
      [...hooks.values()]
        .flatMap((ofTask) => [...ofTask.values()].filter(({ told }) => told !== Number.POSITIVE_INFINITY).slice(0, 1))
        .slice(-MAX_OPEN),
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * Chooses the tasks that give way: of the ended ones first the caller's beyond MAX_TASKS, then those of the caller with
 * the most. The caller is full if that is not enough.
 */
function roomFor(
  tasks: readonly StoredTask[],
  by: string,
  maxCharacters: number,
): { readonly forgotten: ReadonlySet<string>; readonly isFull: boolean } {
  const forgotten = new Set<string>();
  const own = tasks.filter((task) => task.by === by);
  for (const task of own) if (own.length - forgotten.size > MAX_TASKS && !isOpen(task)) forgotten.add(task.id);
  const hasTooMany = own.length - forgotten.size > MAX_TASKS;
  const ofAll = Map.groupBy(
    tasks.filter(({ id }) => !forgotten.has(id)),
    (task) => task.by,
  );
  const sizes = [...ofAll].map(
    ([each, some]) => [each, some.reduce((sum, task) => sum + charactersOf(task), 0)] as const,
  );
  let over = sizes.reduce((sum, [, size]) => sum + size, -maxCharacters);
  const [[most] = [by]] = sizes.sort(([, one], [, other]) => other - one);
  for (const task of ofAll.get(most) ?? []) {
    if (over <= 0 || isOpen(task)) continue;
    over -= charactersOf(task);
    forgotten.add(task.id);
  }
  return { forgotten, isFull: hasTooMany || (over > 0 && most === by) };
}

/** Who may send news by which hook. */
class HookLeases {
  readonly #clock: () => number;
  readonly #leases = new Map<string, { readonly holder: string; readonly until: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  hold(hook: Pick<PushHook, "taskId" | "id">, holder: string): boolean {
    for (const [key, { until }] of this.#leases) if (until <= this.#clock()) this.#leases.delete(key);
    const held = this.#leases.get(leaseOf(hook));
    if (held !== undefined && held.holder !== holder) return false;
    this.#leases.set(leaseOf(hook), { holder, until: this.#clock() + HOOK_LEASE_MS });
    return true;
  }

  release(hook: Pick<PushHook, "taskId" | "id">, holder: string): void {
    if (this.#leases.get(leaseOf(hook))?.holder === holder) this.end(hook);
  }

  end(hook: Pick<PushHook, "taskId" | "id">): void {
    this.#leases.delete(leaseOf(hook));
  }
}

const leaseOf = ({ taskId, id }: Pick<PushHook, "taskId" | "id">): string => `${taskId} ${id}`;

/** The task as it is listed. */
export const withoutTexts = ({ asked: _, answer: __, earlier: ___, ...note }: StoredTask): TaskNote => note;

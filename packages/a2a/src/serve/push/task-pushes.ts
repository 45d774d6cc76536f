import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { RenewingLease, startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { createPublicFetch, type PublicFetch } from "@rockbot/edge/outbound";
import {
  HOOK_LEASE_MS,
  type PushHook,
  type StoredHook,
  type StoredTask,
  type TaskNote,
  type TaskStore,
} from "../store/task-store.ts";
import { attempts } from "../tasks/attempts.ts";
import { followTask, pausePlace } from "../tasks/follow-task.ts";
import type { RunningTasks } from "../tasks/running-tasks.ts";
import type { SessionEvents } from "../tasks/session-events.ts";
import { configOf, hookFault, hookOf } from "./push-hook.ts";
import { sendNews } from "./send-news.ts";

export interface TaskPushesOptions {
  readonly store: TaskStore;
  readonly running: RunningTasks;
  readonly sessions: SessionEvents;
  /** Exceptions to the rule that only public addresses are reached. */
  readonly allowAddresses: readonly string[];
  readonly log: Logger;
}

/** The most hooks of one task, and of all tasks at once. */
const MAX_HOOKS = { ofTask: 5, ofAll: 256 } as const;
/** The timeout of one attempt. */
const SEND_MS = 10_000;
/** An attempt that runs when sending ends has so long to arrive. */
const ARRIVE_MS = 5_000;
/** How often a gateway looks for hooks that nobody serves. */
const LOOK_MS = HOOK_LEASE_MS / 5;
/** Nothing that a receiver answers is read but its status. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * Sends news of tasks to the addresses that clients name: each step in order, then the answer, then the end. The queue
 * of a hook is the session's log. The store keeps the place of the last news, and a process that takes up a hook goes
 * on there. One of several gateways sends: the one with the hook's lease. A gateway that stops lets the
 * news on its way arrive, and notes it. A step may go out twice if a process dies before it notes the place. A step that is refused, or was tried in vain, is given up; then only a question and the
 * end are tried.
 */
export class TaskPushes implements AsyncDisposable {
  readonly #options: TaskPushesOptions;
  readonly #fetch: PublicFetch & AsyncDisposable;
  readonly #holder = newId();
  readonly #stop = new AbortController();
  /** The hooks that send news now, by task and id. */
  readonly #telling = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
  /** One retry schedule for all hooks: each is taken up again in a few seconds, and many fail at once. */
  readonly #attempt: ReturnType<typeof attempts>;
  /** The turn at whose question each hook has nothing more to tell, as of the last look. */
  #paused: ReadonlyMap<string, string> = new Map();
  #takingUp: AsyncDisposable | undefined;

  constructor(options: TaskPushesOptions) {
    this.#options = options;
    const { allowAddresses, log } = options;
    this.#attempt = attempts((err) =>
      log.warn({ err }, "news of tasks of A2A clients could not be sent on, which is tried again"),
    );
    const bounds = { timeoutMs: SEND_MS, idleTimeoutMs: SEND_MS, maxBytes: MAX_ANSWER_BYTES };
    this.#fetch = createPublicFetch({
      allowAddresses,
      allowedBy: "A2A_PUSH_ADDRESSES",
      userAgent: "RockBot",
      ...bounds,
    });
  }

  /** @throws {A2AError} naming all faults */
  check(config: TaskPushNotificationConfig): void {
    const fault = hookFault(config);
    if (fault !== undefined) throw new RequestMalformedError(`pushNotificationConfig: ${fault}`);
  }

  /**
   * Keeps it, in the place of the one with its id, and sends the news from the task's first step on.
   * @throws {A2AError} if it has faults, or there are too many
   * @throws {StoreUnavailableError}
   */
  async create(
    task: StoredTask,
    config: TaskPushNotificationConfig,
    version: string | undefined,
  ): Promise<TaskPushNotificationConfig> {
    this.check(config);
    const { store } = this.#options;
    const hook = hookOf(task, config, version);
    const others = (await store.hooks(task.id)).filter(({ id }) => id !== hook.id);
    if (others.length >= MAX_HOOKS.ofTask)
      throw new UnsupportedOperationError(
        `A task has at most ${MAX_HOOKS.ofTask} push notification configs. Delete one`,
      );
    if (this.#telling.size >= MAX_HOOKS.ofAll)
      throw new UnsupportedOperationError("Too many tasks have push notifications now. Try again when some have ended");
    await this.#end(hook);
    await store.writeHook(hook);
    this.#start(hook);
    return configOf(hook);
  }

  /** @throws {StoreUnavailableError} */
  async list({ id }: StoredTask): Promise<TaskPushNotificationConfig[]> {
    return (await this.#options.store.hooks(id)).map(configOf);
  }

  /** Nothing is sent by it any more. @throws {StoreUnavailableError} */
  async drop({ id: taskId }: StoredTask, id: string): Promise<void> {
    await this.#options.store.dropHook({ taskId, id });
    await this.#end({ taskId, id });
  }

  /** Goes on with what an earlier gateway has left, and from now on with what another leaves that dies. */
  startTakingUp(): void {
    const attempt = attempts((err) =>
      this.#options.log.warn(
        { err },
        "the push notification configs of A2A clients could not be read, which is tried again",
      ),
    );
    this.#takingUp ??= startLoop(LOOK_MS, () => attempt(() => this.#takeUp()));
  }

  /** What was not sent is left for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#takingUp?.[Symbol.asyncDispose]();
    await Promise.all([...this.#telling.values()].map(({ done }) => done));
    await this.#fetch[Symbol.asyncDispose]();
  }

  async #takeUp(): Promise<void> {
    const { store } = this.#options;
    const notes = new Map<string, Promise<readonly TaskNote[]>>();
    const [before, paused] = [this.#paused, new Map<string, string>()];
    this.#paused = paused;
    for (const { by, taskId } of await store.hooked()) {
      const left = (await store.hooks(taskId)).filter(
        (hook) => hook.told !== Number.POSITIVE_INFINITY && !this.#telling.has(keyOf(hook)),
      );
      if (left.length === 0) continue;
      const listed = notes.get(by) ?? store.list(by);
      notes.set(by, listed);
      const waitsIn = (await listed).find(({ id, standing }) => id === taskId && standing === "input-required")?.turnId;
      // The texts of tasks that wait are read once, as there may be many of them for hours.
      const known = waitsIn !== undefined && left.every((hook) => before.get(keyOf(hook)) === waitsIn);
      const task = known ? undefined : await store.read(by, taskId);
      for (const hook of left) {
        if (known) paused.set(keyOf(hook), waitsIn);
        if (this.#stop.signal.aborted || this.#telling.size >= MAX_HOOKS.ofAll) return;
        // Again, as it may have been started since the store was read. Of a task that waits there is no news behind its
        // question.
        if (task === undefined || this.#telling.has(keyOf(hook))) continue;
        if (isPaused(task, hook)) paused.set(keyOf(hook), task.turnId);
        else this.#start(hook);
      }
    }
  }

  #start(hook: PushHook): void {
    const stop = new AbortController();
    const key = keyOf(hook);
    const done = this.#attempt(() => this.#tell(hook, AbortSignal.any([stop.signal, this.#stop.signal]))).finally(
      () => {
        if (this.#telling.get(key)?.stop === stop) this.#telling.delete(key);
      },
    );
    this.#telling.set(key, { stop, done });
  }

  async #end(hook: Pick<PushHook, "taskId" | "id">): Promise<void> {
    const telling = this.#telling.get(keyOf(hook));
    telling?.stop.abort();
    await telling?.done;
  }

  /** Nothing is sent while another gateway has the hook. */
  async #tell(hook: PushHook, gone: AbortSignal): Promise<void> {
    const { store } = this.#options;
    if (!(await store.holdHook(hook, this.#holder))) return;
    await using stack = new AsyncDisposableStack();
    // It ends by itself where the store is away.
    stack.defer(() => store.releaseHook(hook, this.#holder).catch(() => {}));
    const { lost } = stack.use(
      new RenewingLease({ leaseMs: HOOK_LEASE_MS, renew: () => store.holdHook(hook, this.#holder) }),
    );
    const now = (await store.hooks(hook.taskId)).find(({ id }) => id === hook.id);
    const task = await store.read(hook.by, hook.taskId);
    if (now === undefined || now.told === Number.POSITIVE_INFINITY || task === undefined) return;
    await this.#send(task, now, { stopped: gone, lost });
  }

  async #send(
    task: StoredTask,
    hook: PushHook,
    { stopped, lost }: { readonly stopped: AbortSignal; readonly lost: AbortSignal },
  ): Promise<void> {
    const { store, running, sessions, log } = this.#options;
    const gone = AbortSignal.any([stopped, lost]);
    const attempt = AbortSignal.any([lateAfter(stopped, ARRIVE_MS), lost]);
    let isFailing = false;
    let isOver = false;
    for await (const { response, place } of followTask(task, { running, sessions, gone, hasPieces: false })) {
      if (gone.aborted) return;
      isOver = place === Number.POSITIVE_INFINITY;
      const isStep = place < pausePlace(task);
      // Read anew each time: another gateway may have dropped the hook.
      const now = (await store.hooks(task.id)).find(({ id }) => id === hook.id);
      if (now === undefined) return;
      if (place <= now.told || (isFailing && isStep)) continue;
      const fault = await sendNews(this.#fetch, { hook: now, response, signal: gone, attempt });
      isFailing = fault !== undefined;
      if (lost.aborted || (gone.aborted && isFailing)) return; // the next gateway tries it
      if (isFailing)
        log.warn(
          { task: task.id, hook: hook.id, why: fault },
          "news of a task could not be sent to the address that its A2A client named",
        );
      if (!isOver) await store.tell(hook, place);
    }
    if (isOver && !lost.aborted) await store.tell(hook, Number.POSITIVE_INFINITY);
  }
}

/** Aborts so long after the signal. */
function lateAfter(signal: AbortSignal, ms: number): AbortSignal {
  const late = new AbortController();
  signal.addEventListener("abort", () => void setTimeout(() => late.abort(), ms).unref(), { once: true });
  return late.signal;
}

const keyOf = ({ taskId, id }: Pick<PushHook, "taskId" | "id">): string => `${taskId} ${id}`;

/** True if the task waits, and the hook has sent its question. */
const isPaused = (task: StoredTask, { told }: Pick<StoredHook, "told">): boolean =>
  task.standing === "input-required" && told >= pausePlace(task);

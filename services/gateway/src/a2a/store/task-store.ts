/** How a task stands, in A2A's words. */
export type TaskStanding = "working" | "completed" | "failed" | "canceled" | "rejected";

/** A task without its texts. */
export interface TaskNote {
  /** Also the id of the agent's turn, and of the call that asks for it. */
  readonly id: string;
  /** The agent's session. */
  readonly contextId: string;
  /** Whose it is; the empty text is the gateway's own agent. */
  readonly by: string;
  /** That the client has asked; undefined of the plain agent. */
  readonly agent?: string | undefined;
  /** Of the client's message. */
  readonly messageId: string;
  readonly standing: TaskStanding;
  /** Why it failed, in words. */
  readonly why?: string | undefined;
  /** Whether the turn has read untrusted content. */
  readonly isUntrusted: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface TaskTexts {
  /** What the client has asked. */
  readonly asked: string;
  /** What the agent has answered; empty until then. */
  readonly answer: string;
}

export interface StoredTask extends TaskNote, TaskTexts {}

/** An address to which a client wants news of a task sent. It has the client's secrets for that address. */
export interface PushHook {
  /** Of all hooks of the task. */
  readonly id: string;
  readonly taskId: string;
  readonly by: string;
  readonly url: string;
  readonly token?: string | undefined;
  readonly authentication?: { readonly scheme: string; readonly credentials: string } | undefined;
  /** Of A2A, in whose form news is sent. */
  readonly version: "1.0" | "0.3";
}

export interface StoredHook extends PushHook {
  /** The last step of the task that was sent, or given up: 0 at first, Infinity behind the end. */
  readonly told: number;
}

/**
 * Keeps tasks of A2A clients where a restarted process finds them: of each caller the newest MAX_TASKS, for KEPT_MS after their last change.
 * Operations reject with StoreUnavailableError if the store does not answer.
 */
export interface TaskStore extends AsyncDisposable {
  write(task: StoredTask): Promise<void>;
  /** A task of that caller. */
  read(by: string, id: string): Promise<StoredTask | undefined>;
  /** The caller's tasks, those with the newest change first. */
  list(by: string): Promise<readonly TaskNote[]>;
  /** Tasks of all callers that had not ended when they were written, at most MAX_OPEN. */
  open(): Promise<readonly StoredTask[]>;
  /** Keeps a hook of a task, in the place of the one with its id, as long as tasks are kept. No holder has it then. */
  writeHook(hook: PushHook): Promise<void>;
  /** Nothing is told by a hook that is not there. */
  tell(hook: PushHook, told: number): Promise<void>;
  /** Takes the right to send news by the hook, or keeps it, for HOOK_LEASE_MS. @returns whether no other holder has it */
  holdHook(hook: Pick<PushHook, "taskId" | "id">, holder: string): Promise<boolean>;
  /** Gives it back, if the holder has it. */
  releaseHook(hook: Pick<PushHook, "taskId" | "id">, holder: string): Promise<void>;
  dropHook(hook: Pick<PushHook, "taskId" | "id">): Promise<void>;
  hooks(taskId: string): Promise<readonly StoredHook[]>;
  /** Tasks of which some hook has not told the end, at most MAX_OPEN. */
  hooked(): Promise<readonly Pick<PushHook, "by" | "taskId">[]>;
}

/** A gateway that is silent for so long has died. */
export const HOOK_LEASE_MS = 15_000;
export const KEPT_MS = 24 * 3_600_000;
export const MAX_TASKS = 200;
export const MAX_OPEN = 1_000;
/** Of the two texts of a task, each. */
export const MAX_TEXT_BYTES = 1024 * 1024;

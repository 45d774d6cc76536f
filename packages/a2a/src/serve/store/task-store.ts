import { StoreFullError } from "@rockbot/records";

/** How a task stands, in A2A's words. */
export type TaskStanding = "working" | "input-required" | "completed" | "failed" | "canceled" | "rejected";

/** A task without its texts. */
export interface TaskNote {
  /** Also the id of its first turn. */
  readonly id: string;
  /** The id of the agent's newest turn for it, and of the call that asks for that turn. */
  readonly turnId: string;
  /** The agent's session. */
  readonly contextId: string;
  /** Whose it is; the empty text is the gateway's own agent. */
  readonly by: string;
  /** The agent that the client has asked; undefined for the plain agent. */
  readonly agent?: string | undefined;
  /** The id of the client's newest message. */
  readonly messageId: string;
  readonly standing: TaskStanding;
  /** Why it failed, in words. */
  readonly why?: string | undefined;
  /** True if the turn has read untrusted content. */
  readonly isUntrusted: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A turn of the agent that ended with a question, which the client has answered. */
export interface TaskTurn {
  readonly turnId: string;
  readonly messageId: string;
  /** What the client had said, and what the agent then asked. Both are empty of a turn whose texts are forgotten. */
  readonly asked: string;
  readonly question: string;
}

export interface TaskTexts {
  /** The client's newest message. */
  readonly asked: string;
  /** What the agent has answered to that, or asks; empty until then. */
  readonly answer: string;
  /** The turns before, the first one first. */
  readonly earlier: readonly TaskTurn[];
}

/** A task with its texts, as the store keeps it. */
export interface StoredTask extends TaskNote, TaskTexts {}

/** An address to which a client wants news of a task sent. It has the client's secrets for that address. */
export interface PushHook {
  /** The id, unique among the hooks of the task. */
  readonly id: string;
  readonly taskId: string;
  readonly by: string;
  readonly url: string;
  readonly token?: string | undefined;
  readonly authentication?: { readonly scheme: string; readonly credentials: string } | undefined;
  /** The version of A2A in whose form news is sent. */
  readonly version: "1.0" | "0.3";
}

export interface StoredHook extends PushHook {
  /**
   * The place of the last news that was sent, or given up: 0 at first, Infinity behind the end. See `stepPlace` and
   * `pausePlace`.
   */
  readonly told: number;
}

/**
 * Keeps tasks of A2A clients where a restarted process finds them, for KEPT_MS after their last change. Each caller has
 * at most MAX_TASKS, and so many bytes. Ended tasks give way, the oldest first; one that is at work or waits for input
 * stays. Operations reject with StoreUnavailableError if the store does not answer.
 */
export interface TaskStore extends AsyncDisposable {
  /**
   * Writes the task if the store has it as it was before, or does not have it. So of two that change a task at once,
   * one does.
   * @param before undefined of a task that is new
   * @returns whether it was written
   * @throws {StoreFullError} if the task is to be at work, and the caller's other tasks that have not ended leave no
   * room
   */
  write(task: StoredTask, before: TaskNote | undefined): Promise<boolean>;
  /** A task of that caller. */
  read(by: string, id: string): Promise<StoredTask | undefined>;
  /** The caller's tasks, those with the newest change first. */
  list(by: string): Promise<readonly TaskNote[]>;
  /** Tasks of all callers that are at work, at most MAX_OPEN. */
  open(): Promise<readonly StoredTask[]>;
  /** Tasks of all callers that have waited for input since before that time, in Unix milliseconds, at most MAX_OPEN. */
  waiting(since: number): Promise<readonly TaskNote[]>;
  /** Keeps a hook of a task, in the place of the one with its id, as long as tasks are kept. No holder has it then. */
  writeHook(hook: PushHook): Promise<void>;
  /** Notes the news that the hook has sent; does nothing for a hook that is gone. */
  tell(hook: PushHook, told: number): Promise<void>;
  /**
   * Takes the right to send news by the hook, or keeps it, for HOOK_LEASE_MS.
   * @returns whether no other holder has it
   */
  holdHook(hook: Pick<PushHook, "taskId" | "id">, holder: string): Promise<boolean>;
  /** Gives it back, if the holder has it. */
  releaseHook(hook: Pick<PushHook, "taskId" | "id">, holder: string): Promise<void>;
  dropHook(hook: Pick<PushHook, "taskId" | "id">): Promise<void>;
  hooks(taskId: string): Promise<readonly StoredHook[]>;
  /** Tasks of which some hook has not told the end, at most MAX_OPEN. */
  hooked(): Promise<readonly Pick<PushHook, "by" | "taskId">[]>;
}

export const isOpen = ({ standing }: Pick<TaskNote, "standing">): boolean =>
  standing === "working" || standing === "input-required";

/** @param room what one caller may have, besides MAX_TASKS */
export const tasksFull = (room: string): StoreFullError =>
  new StoreFullError(
    `Your tasks that have not ended take all the room that one caller may have here: ${MAX_TASKS} tasks, and ${room}. Send the message again when one has ended, or cancel one`,
  );

/** Changes with each change of a task but for its texts: by it two are compared. */
export const stateToken = ({ turnId, standing }: Pick<TaskNote, "turnId" | "standing">): string =>
  `${turnId} ${standing}`;

export const charactersOf = ({ asked, answer, earlier }: TaskTexts): number =>
  earlier.reduce((sum, turn) => sum + turn.asked.length + turn.question.length, asked.length + answer.length);

/** A gateway that is silent for so long has died. */
export const HOOK_LEASE_MS = 15_000;
export const KEPT_MS = 24 * 3_600_000;
export const MAX_TASKS = 200;
export const MAX_OPEN = 1_000;
/** Messages of the client in one task. */
export const MAX_MESSAGES = 32;
/** The bound of each of a task's two texts, and of all texts of its earlier turns. */
export const MAX_TEXT_BYTES = 1024 * 1024;

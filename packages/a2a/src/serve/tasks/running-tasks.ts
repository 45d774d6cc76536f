import { redact } from "@rockbot/base/redaction";
import type { Logger } from "@rockbot/bus";
import { readOutput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import { MAX_TEXT_BYTES, type StoredTask, type TaskStore } from "../store/task-store.ts";
import { OverloadedError } from "./overloaded-error.ts";

export interface RunningTasksOptions {
  readonly store: TaskStore;
  /** How long a turn may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

interface Running {
  readonly by: string;
  /** The task once its turn has ended; undefined if this process stops before. Never rejects. */
  readonly ended: Promise<StoredTask | undefined>;
  readonly cancel: AbortController;
}

/** So many tasks of one caller run at once, and so many of all. */
const MAX_RUNNING = { ofOne: 32, ofAll: 128 } as const;
const { name: TOOL } = tools.agentChat;

/**
 * The tasks whose calls this process has out. The id of a task's newest turn is that of its call: a call that is made
 * again, by any process, joins the turn. So a process that takes a task up begins nothing twice.
 */
export class RunningTasks implements AsyncDisposable {
  readonly #caller: ToolCaller;
  readonly #options: RunningTasksOptions;
  /** The running tasks by the turn's id. */
  readonly #running = new Map<string, Running>();
  #isStopping = false;

  constructor(caller: ToolCaller, options: RunningTasksOptions) {
    this.#caller = caller;
    this.#options = options;
  }

  /** @throws {OverloadedError} if one more of this caller may not run now */
  checkRoom(by: string): void {
    const own = [...this.#running.values()].filter((task) => task.by === by).length;
    const again = "Send the message again when one has ended";
    if (own >= MAX_RUNNING.ofOne)
      throw new OverloadedError(
        `${own} of your tasks are at work, the most that one caller may have. ${again}`,
        "caller_share",
      );
    if (this.#running.size >= MAX_RUNNING.ofAll)
      throw new OverloadedError(`${this.#running.size} tasks are at work here, the most that may be. ${again}`);
  }

  /** Makes the task's call, or joins it. @param isNew whether nobody has made the call of its turn before */
  start(task: StoredTask, { isNew = false }: { readonly isNew?: boolean } = {}): Running {
    const known = this.#running.get(task.turnId);
    if (known !== undefined) return known;
    const cancel = new AbortController();
    const ended = this.#end(task, isNew, cancel.signal).finally(() => this.#running.delete(task.turnId));
    const running = { by: task.by, ended, cancel };
    this.#running.set(task.turnId, running);
    return running;
  }

  /** Its tasks are left for the next process, which finds them in the store. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
  }

  async #end(task: StoredTask, isNew: boolean, signal: AbortSignal): Promise<StoredTask | undefined> {
    const { store, log } = this.#options;
    const end = await this.#call(task, isNew ? undefined : Math.max(0, Date.now() - task.updatedAt), signal);
    if (end === undefined) return undefined;
    const ended = { ...task, ...end, isUntrusted: task.isUntrusted || end.isUntrusted === true, updatedAt: Date.now() };
    try {
      if (await store.write(ended, task)) return ended;
      // Another gateway has joined the turn, and was first.
      return endOfTurn(task, (await store.read(task.by, task.id)) ?? ended);
    } catch (error) {
      log.warn(
        { task: task.id, err: error },
        "the end of a task of an A2A client could not be kept, and is asked for again",
      );
    }
    return ended;
  }

  async #call(
    { id, turnId, by, agent, contextId, asked }: StoredTask,
    firstSentMsAgo: number | undefined,
    signal: AbortSignal,
  ): Promise<Partial<StoredTask> | undefined> {
    const { timeoutMs } = this.#options;
    try {
      const input = { message: asked, session_id: contextId, ...(agent === undefined ? {} : { agent }) };
      const options = {
        toolCallId: turnId,
        firstSentMsAgo,
        onBehalfOf: by || undefined,
        timeoutMs,
        keepAnswer: true,
        signal,
      };
      const response = await this.#caller.call(TOOL, input, options);
      const { output, isUntrusted } = readOutput(response);
      if (Buffer.byteLength(output.text) > MAX_TEXT_BYTES)
        return {
          standing: "failed",
          isUntrusted,
          why: `The answer has more than ${MAX_TEXT_BYTES} bytes, which no task may have. Ask for less.`,
        };
      if (output.report?.status === "input-required")
        return { standing: "input-required", isUntrusted, answer: output.text };
      const why = response.isError === true ? output.text : undefined;
      return {
        standing: why === undefined ? "completed" : "failed",
        isUntrusted,
        answer: output.text,
        ...(why === undefined ? {} : { why }),
      };
    } catch (error) {
      if (signal.aborted) return { standing: "canceled" };
      if (this.#isStopping) return undefined;
      const code = error instanceof ToolError ? error.code : undefined;
      if (code === undefined)
        this.#options.log.error({ task: id, err: error }, "a task of an A2A client failed in the gateway");
      const why = error instanceof ToolError ? redact(error.message) : "The gateway failed. Its log says why.";
      // By an operator, or by another client of the session.
      const isCancelled = error instanceof ToolError && error.details?.["reason"] === ToolErrorCode.Cancelled;
      return { standing: isCancelled ? "canceled" : code === ToolErrorCode.Denied ? "rejected" : "failed", why };
    }
  }
}

/**
 * How the turn has ended of a task that the store has as it is now: with a question, if a further turn has begun since.
 */
function endOfTurn(task: StoredTask, now: StoredTask): StoredTask {
  const turn = now.earlier.find(({ turnId }) => turnId === task.turnId);
  return turn === undefined
    ? now
    : { ...task, standing: "input-required", isUntrusted: now.isUntrusted, answer: turn.question };
}

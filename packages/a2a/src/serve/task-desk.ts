import { createHash } from "node:crypto";
import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { fileText, newId, sessionFault, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { StoreFullError, StoreUnavailableError } from "@rockbot/records";
import type { A2aClient } from "./a2a-client.ts";
import type { TaskPushes } from "./push/task-pushes.ts";
import {
  charactersOf,
  MAX_MESSAGES,
  MAX_TEXT_BYTES,
  type StoredTask,
  type TaskStore,
  type TaskTurn,
} from "./store/task-store.ts";
import { followTask } from "./tasks/follow-task.ts";
import { OverloadedError } from "./tasks/overloaded-error.ts";
import type { RunningTasks } from "./tasks/running-tasks.ts";
import type { SessionEvents } from "./tasks/session-events.ts";
import { stateOf, taskMessage } from "./tasks/task-message.ts";

export interface TaskDeskOptions {
  readonly card: () => AgentCard;
  /** Whose desk it is; undefined for the plain agent. */
  readonly agent: string | undefined;
  readonly store: TaskStore;
  readonly running: RunningTasks;
  readonly sessions: SessionEvents;
  /** Undefined if no news is sent to addresses of clients. */
  readonly pushes: TaskPushes | undefined;
}

const MAX_PAGE = 100;
const DEFAULT_PAGE = 50;
/** A page ends behind the task whose texts exceed it, so that no answer is larger than a client reads in time. */
const MAX_PAGE_CHARACTERS = 2 * 1024 * 1024;
/** The bus's bound: a message with its session fits into a request. */
const MAX_ASKED = 262_144;

/**
 * Does what A2A's requests ask for. A task is a turn of the agent, and a further one for each answer to a question of
 * the agent. It outlives its client and this process. Each caller sees its own tasks alone. The SDK's own handler would
 * lose a task with the process that runs it.
 */
export class TaskDesk implements A2ARequestHandler {
  readonly #options: TaskDeskOptions;

  constructor(options: TaskDeskOptions) {
    this.#options = options;
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#options.card();
  }

  async sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const { gone } = clientOf(context);
    const { configuration } = request;
    checkHistoryLength(configuration?.historyLength);
    const task = await this.#beginWithPush(request, context);
    const options = { historyLength: configuration?.historyLength };
    if (configuration?.returnImmediately === true) return taskMessage(task, options);
    return taskMessage((await this.#untilTurnEnds(task, gone)) ?? task, options);
  }

  async *sendMessageStream(
    request: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* this.#follow(await this.#beginWithPush(request, context), clientOf(context).gone);
  }

  async getTask({ id, historyLength }: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    checkHistoryLength(historyLength);
    const task = await this.#taskOf(clientOf(context).by, id);
    if (task.standing === "working") this.#options.running.start(task);
    return taskMessage(task, { historyLength });
  }

  async listTasks(
    {
      contextId,
      status,
      pageSize = DEFAULT_PAGE,
      pageToken,
      historyLength,
      statusTimestampAfter,
      includeArtifacts = false,
    }: ListTasksRequest,
    context: ServerCallContext,
  ): Promise<ListTasksResponse> {
    const { by } = clientOf(context);
    checkHistoryLength(historyLength);
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE)
      throw new RequestMalformedError(`pageSize: expected 1 to ${MAX_PAGE}`);
    const after = statusTimestampAfter ? Date.parse(statusTimestampAfter) : 0;
    if (Number.isNaN(after)) throw new RequestMalformedError("statusTimestampAfter: expected a time of ISO 8601");
    if (status === TaskState.UNRECOGNIZED)
      throw new RequestMalformedError("status: expected a state of A2A, such as TASK_STATE_INPUT_REQUIRED");
    const { store, agent } = this.#options;
    const notes = (await this.#kept(() => store.list(by))).filter(
      (note) =>
        note.agent === agent &&
        (contextId === "" || note.contextId === contextId) &&
        (status === 0 || stateOf(note) === status) &&
        note.updatedAt > after,
    );
    const from = pageToken === "" ? 0 : notes.findIndex(({ id }) => id === pageToken);
    if (from < 0)
      throw new RequestMalformedError("pageToken: it is not valid for this list any more. Begin without it");
    const tasks: Task[] = [];
    let next = from;
    for (
      let characters = 0;
      next < Math.min(notes.length, from + pageSize) && characters < MAX_PAGE_CHARACTERS;
      next++
    ) {
      const id = notes[next]?.id ?? "";
      const task = await this.#kept(() => store.read(by, id));
      if (task === undefined) continue;
      characters += charactersOf(task);
      tasks.push(taskMessage(task, { historyLength, hasArtifacts: includeArtifacts }));
    }
    return { tasks, nextPageToken: notes[next]?.id ?? "", pageSize, totalSize: notes.length };
  }

  async cancelTask({ id }: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    const task = await this.#taskOf(clientOf(context).by, id);
    if (task.standing === "input-required") return await this.#cancelWaiting(task, context);
    if (task.standing !== "working" && task.standing !== "canceled")
      throw new TaskNotCancelableError(`The task ${id} has ended: ${task.standing}`);
    if (task.standing === "canceled") return taskMessage(task);
    // One that another process has begun is joined, so that there is a call to cancel.
    const { cancel, ended } = this.#options.running.start(task);
    cancel.abort(new ToolError(ToolErrorCode.Cancelled, "Cannot finish the task: its client cancelled it"));
    const end = (await ended) ?? task;
    if (end.standing === "input-required") return await this.#cancelWaiting(end, context);
    if (end.standing !== "canceled") throw new TaskNotCancelableError(`The task ${id} has ended: ${end.standing}`);
    return taskMessage(end);
  }

  async *resubscribe(
    { id }: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { by, gone } = clientOf(context);
    const task = await this.#taskOf(by, id);
    if (task.standing !== "working" && task.standing !== "input-required")
      throw new UnsupportedOperationError(`The task ${id} has ended: ${task.standing}. Read it by GetTask`);
    yield* this.#follow(task, gone);
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    throw new ExtendedAgentCardNotConfiguredError();
  }

  async createTaskPushNotificationConfig(
    config: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    const task = await this.#taskOf(clientOf(context).by, config.taskId);
    return await this.#kept(() => this.#pushes.create(task, config, context.requestedVersion));
  }

  async getTaskPushNotificationConfig(
    { taskId, id }: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    const { configs } = await this.listTaskPushNotificationConfigs({ taskId }, context);
    const config = configs.find((each) => each.id === (id || taskId));
    if (config === undefined)
      throw new TaskNotFoundError(`The task ${taskId} has no such push notification config. List them`);
    return config;
  }

  /** All of them in one page: a task has few. */
  async listTaskPushNotificationConfigs(
    { taskId }: Pick<ListTaskPushNotificationConfigsRequest, "taskId">,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    const task = await this.#taskOf(clientOf(context).by, taskId);
    return { configs: await this.#kept(() => this.#pushes.list(task)), nextPageToken: "" };
  }

  async deleteTaskPushNotificationConfig(
    { taskId, id }: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<void> {
    const task = await this.#taskOf(clientOf(context).by, taskId);
    await this.#kept(() => this.#pushes.drop(task, id || taskId));
  }

  /** @throws {A2AError} if there are none */
  get #pushes(): TaskPushes {
    const { pushes } = this.#options;
    if (pushes === undefined)
      throw new PushNotificationNotSupportedError(
        "Push notifications are not sent. Subscribe to the task, or ask for it",
      );
    return pushes;
  }

  /**
   * Begins a task as `#begin` does, with the address to which the client wants news sent. It looks at the address before
   * anything begins.
   */
  async #beginWithPush(
    { message, configuration }: SendMessageRequest,
    context: ServerCallContext,
  ): Promise<StoredTask> {
    const { by } = clientOf(context);
    const config = configuration?.taskPushNotificationConfig;
    if (config === undefined) return await this.#begin(by, message);
    this.#pushes.check(config);
    const task = await this.#begin(by, message);
    await this.#kept(() => this.#pushes.create(task, config, context.requestedVersion));
    return task;
  }

  /** Keeps the task, and starts its turn. The same message again is the same task. */
  async #begin(by: string, message: Message | undefined): Promise<StoredTask> {
    const { store, running, agent } = this.#options;
    const { messageId, taskId, contextId } = message ?? { messageId: "", taskId: "", contextId: "" };
    const asked = askedIn(message);
    if (messageId === "" || messageId.length > 256)
      throw new RequestMalformedError("message.messageId: expected 1 to 256 characters");
    const fault = contextId === "" ? undefined : sessionFault(contextId);
    if (fault !== undefined) throw new RequestMalformedError(`message.contextId: ${fault}`);
    if (taskId !== "") return await this.#goOn(await this.#taskOf(by, taskId), { messageId, contextId, asked });
    const id = taskIdOf(by, messageId, agent);
    const known = await this.#kept(() => store.read(by, id));
    if (known !== undefined) {
      checkSame(known.earlier[0] ?? known, asked);
      if (known.standing === "working") running.start(known);
      return known;
    }
    running.checkRoom(by);
    const now = Date.now();
    const task: StoredTask = {
      id,
      turnId: id,
      contextId: contextId === "" ? newId() : contextId,
      by,
      ...(agent === undefined ? {} : { agent }),
      messageId,
      standing: "working",
      isUntrusted: false,
      createdAt: now,
      updatedAt: now,
      asked,
      answer: "",
      earlier: [],
    };
    // The same message may have come to another gateway.
    if (!(await this.#kept(() => store.write(task, undefined)))) return await this.#begin(by, message);
    running.start(task, { isNew: true });
    return task;
  }

  /** The answer to the agent's question, which begins a further turn. The same message again begins none. */
  async #goOn(
    task: StoredTask,
    { messageId, contextId, asked }: Readonly<Record<"messageId" | "contextId" | "asked", string>>,
  ): Promise<StoredTask> {
    const { store, running } = this.#options;
    const { id, by, standing, earlier } = task;
    if (contextId !== "" && contextId !== task.contextId)
      throw new RequestMalformedError("message.contextId: the task belongs to another context. Leave it out");
    const known = [...earlier, task].find((turn) => turn.messageId === messageId);
    if (known !== undefined) {
      checkSame(known, asked);
      if (standing === "working") running.start(task);
      return task;
    }
    if (standing !== "input-required") {
      // The end of its turn may not have been kept: it is learnt again, so that the task does not stay at work.
      if (standing === "working") running.start(task);
      const why = standing === "working" ? "is still at work, and takes no further message" : `has ended: ${standing}`;
      throw new UnsupportedOperationError(
        `The task ${id} ${why}. Send a message without a taskId, and with its contextId to go on in its conversation`,
      );
    }
    if (earlier.length + 1 >= MAX_MESSAGES)
      throw new UnsupportedOperationError(
        `The task ${id} has had ${MAX_MESSAGES} messages, the most that it may. Cancel it, and begin another`,
      );
    running.checkRoom(by);
    const turnId = turnIdOf(task, messageId);
    const next: StoredTask = {
      ...task,
      turnId,
      messageId,
      standing: "working",
      updatedAt: Date.now(),
      asked,
      answer: "",
      earlier: turnsBefore(task),
    };
    // Another answer, a cancel, or the end of the wait may have been first.
    if (!(await this.#kept(() => store.write(next, task))))
      return await this.#goOn(await this.#taskOf(by, id), { messageId, contextId, asked });
    running.start(next, { isNew: true });
    return next;
  }

  /** A task that waits has no call to cancel. */
  async #cancelWaiting(task: StoredTask, context: ServerCallContext): Promise<Task> {
    const cancelled: StoredTask = { ...task, standing: "canceled", updatedAt: Date.now() };
    const isFirst = await this.#kept(() => this.#options.store.write(cancelled, task));
    return isFirst
      ? taskMessage(cancelled)
      : await this.cancelTask({ tenant: "", id: task.id, metadata: undefined }, context);
  }

  /** @throws {A2AError} as if there were none, if it is another caller's, or another agent's */
  async #taskOf(by: string, id: string): Promise<StoredTask> {
    const task = /^[0-9a-f]{32}$/.test(id) ? await this.#kept(() => this.#options.store.read(by, id)) : undefined;
    if (task === undefined || task.agent !== this.#options.agent)
      throw new TaskNotFoundError(
        `There is no task ${JSON.stringify(id.slice(0, 80))} of yours. Tasks are kept for a day`,
      );
    return task;
  }

  async #kept<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreFullError) throw new OverloadedError(error.message, "caller_share");
      if (!(error instanceof StoreUnavailableError)) throw error;
      throw new Error("Tasks cannot be kept now, so nothing was done. Try again later", { cause: error });
    }
  }

  /** @returns undefined if the client, or this process, goes before */
  async #untilTurnEnds(task: StoredTask, gone: AbortSignal): Promise<StoredTask | undefined> {
    if (task.standing !== "working") return task;
    const { promise: left, resolve: leave } = Promise.withResolvers<undefined>();
    const onGone = () => leave(undefined);
    gone.addEventListener("abort", onGone, { once: true });
    if (gone.aborted) leave(undefined);
    try {
      return await Promise.race([this.#options.running.start(task).ended, left]);
    } finally {
      gone.removeEventListener("abort", onGone);
    }
  }

  /** The task as it is, each step of its turn, and its end. */
  async *#follow(task: StoredTask, gone: AbortSignal): AsyncGenerator<StreamResponse, void, undefined> {
    yield { payload: { $case: "task", value: taskMessage(task) } };
    if (task.standing !== "working") return;
    for await (const { response } of followTask(task, { ...this.#options, gone })) yield response;
  }
}

/** @throws {RequestMalformedError} */
function checkHistoryLength(length: number | undefined): void {
  if (length !== undefined && !(Number.isInteger(length) && length >= 0))
    throw new RequestMalformedError("historyLength: expected a whole number from 0 on");
}

/** The client of a request: the door made it. */
const clientOf = ({ user }: ServerCallContext): Pick<A2aClient, "by" | "gone"> => user as unknown as A2aClient;

const taskIdOf = (by: string, messageId: string, agent: string | undefined): string =>
  idOf("a2a", by, messageId, ...(agent === undefined ? [] : [agent]));

const turnIdOf = ({ id, by }: Pick<StoredTask, "id" | "by">, messageId: string): string =>
  idOf("a2a turn", by, id, messageId);

const idOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);

/**
 * @throws {A2AError} if the message that has come under the id of an earlier one is another. The text of an earlier
 * turn may be forgotten.
 */
function checkSame(before: Pick<TaskTurn, "asked">, asked: string): void {
  if (before.asked !== "" && before.asked !== asked)
    throw new RequestMalformedError("message.messageId: another message had it. Give each message its own");
}

/** All turns of a task that waits. The oldest lose their texts where all have more than MAX_TEXT_BYTES. */
function turnsBefore({ turnId, messageId, asked, answer: question, earlier }: StoredTask): TaskTurn[] {
  let bytes = 0;
  const kept = [...earlier, { turnId, messageId, asked, question }].toReversed().map((turn) => {
    bytes += Buffer.byteLength(turn.asked) + Buffer.byteLength(turn.question);
    return bytes <= MAX_TEXT_BYTES ? turn : { ...turn, asked: "", question: "" };
  });
  return kept.toReversed();
}

/** @throws {A2AError} if a part is none of text, data and text file */
function askedIn(message: Message | undefined): string {
  const texts = (message?.parts ?? []).map(({ content, filename: name, mediaType }) => {
    if (content?.$case === "text") return content.value;
    if (content?.$case === "data") return JSON.stringify(content.value) ?? "null";
    const words = content?.$case === "raw" ? fileText({ name, mediaType, bytes: content.value }) : undefined;
    if (words !== undefined) return words;
    throw new ContentTypeNotSupportedError(
      "message.parts: expected text, data or text files in UTF-8. Other files are not read here, and no addresses of files",
    );
  });
  const text = texts.join("\n");
  if (text.trim() === "") throw new RequestMalformedError("message.parts: there is no text");
  if (text.length > MAX_ASKED || Buffer.byteLength(text) > MAX_TEXT_BYTES)
    throw new RequestMalformedError(`message.parts: more than ${MAX_ASKED} characters`);
  return text;
}

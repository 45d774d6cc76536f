import { type Bus, BusUnavailableError, type Logger, QueueFullError, UnroutableError } from "@rockbot/bus";
import {
  type AgentTaskError,
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  Header,
  messages,
  saidBy,
  ToolError,
  ToolErrorCode,
  taskTopics,
  visibleText,
} from "@rockbot/contracts";
import type { Identity } from "@rockbot/tools";
import type { AnnouncedAgent } from "../ask/agents/known-agent.ts";
import type { GiveTaskOptions, TaskGiver } from "../ask/client/give-task.ts";
import type { AgentRequest, TaskEnd } from "../ask/client/run-task.ts";
import { type EndState, idOf } from "../ask/client/task-view.ts";
import { hearAnswers } from "./hear-answers.ts";
import { messageText, resultText } from "./task-text.ts";

export interface BusTasksOptions {
  /** The sender of tasks on a bus that verifies no senders. */
  readonly service: string;
  readonly identity: Pick<Identity, "senderOf">;
  /** The most that is read of one answer. */
  readonly maxBytes: number;
  readonly log: Logger;
}

type Ended = Pick<TaskEnd, "state" | "text" | "contextId">;

interface Pending {
  readonly agent: AnnouncedAgent;
  readonly onProgress: (message: string) => void;
  /** True once the agent has sent anything about the task: it has taken it. */
  isAtWork: boolean;
  readonly end: (end: Ended | ToolError) => void;
}

const ENDS: ReadonlyMap<number, EndState> = new Map([
  [2, "input_required"],
  [3, "completed"],
  [4, "failed"],
  [5, "canceled"],
]);
const MAX_SAID = 300;
const MAX_PROGRESS = 500;
const CANCEL_TTL_MS = 60_000;
const CANCEL_TIMEOUT_MS = 5_000;

/**
 * Gives tasks to agents on the bus, and takes their answers: the first of each task, from the agent itself. An answer
 * that comes late, twice, from others or of tasks of others changes nothing.
 */
export class BusTasks implements TaskGiver {
  readonly #bus: Bus;
  readonly #options: BusTasksOptions;
  /** By the id of the task, which is the correlation id of all that is said of it. */
  readonly #pending = new Map<string, Pending>();
  readonly #source: string;
  /** Where agents answer: this instance's own once it hears. */
  #replyTo: string;

  constructor(bus: Bus, options: BusTasksOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#source = bus.traits.verifiesSender ? (bus.traits.user ?? options.service) : options.service;
    this.#replyTo = `${taskTopics.response}.${this.#source}`;
  }

  /** Hears answers. One that comes while the connection is lost is heard after it. News on the way comes by `take`. */
  async hear(): Promise<AsyncDisposable> {
    const answers = await hearAnswers(
      this.#bus,
      this.#source,
      async (message) => this.take(message),
      this.#options.log,
    );
    this.#replyTo = answers.topic;
    return answers;
  }

  /**
   * Gives an agent a task, and waits for its end.
   * @throws {ToolError} `unavailable` at once if nobody takes tasks of the agent; the reason of `signal` once that
   * aborts, after the agent was asked to cancel
   */
  async give(agent: AnnouncedAgent, request: AgentRequest, options: GiveTaskOptions): Promise<TaskEnd> {
    const { signal, onProgress, onIds } = options;
    const { messageId: taskId, contextId = taskId } = request;
    if (request.text === undefined || request.taskId !== undefined)
      throw nothingSent(
        ToolErrorCode.InvalidArguments,
        agent,
        "an agent on the bus is not asked for an earlier task. Leave task_id out, and send a message, with the context_id to go on in its conversation",
      );
    const { promise: ended, resolve } = Promise.withResolvers<Ended | ToolError>();
    const { promise: given, resolve: giveUp } = Promise.withResolvers<undefined>();
    const onAbort = () => giveUp(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    this.#pending.set(taskId, { agent, onProgress, isAtWork: false, end: resolve });
    try {
      await onIds({ taskId, contextId });
      await this.#send(agent, { ...request, text: request.text, contextId }, options);
      const end = await Promise.race([ended, given]);
      if (end instanceof ToolError) throw end;
      if (end === undefined) throw signal.reason;
      const said = end.contextId ?? contextId;
      // An agent may call the conversation as it likes: its id is known to be the caller's before the caller gets it.
      if (said !== contextId) await onIds({ taskId, contextId: said });
      return { state: end.state, text: end.text, taskId: undefined, contextId: said };
    } catch (error) {
      if (signal.aborted) await this.#cancel(agent, taskId, contextId);
      throw error;
    } finally {
      this.#pending.delete(taskId);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Takes in what is said of a task. */
  take(message: Envelope): void {
    const id = message.correlationId;
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (pending === undefined) return;
    const { agent, end, onProgress } = pending;
    const from = this.#options.identity.senderOf(message);
    if ("refusal" in from || from.name !== agent.sender) return;
    pending.isAtWork ||= message.type === messages.AgentTaskStatusUpdate.type;
    const isTooLarge = message.body.byteLength > this.#options.maxBytes;
    const heard = isTooLarge
      ? failed(ToolErrorCode.TooLarge, agent, "sent an answer larger than the limit. Ask it for less", true)
      : heardIn(message, pending);
    if (typeof heard === "string") onProgress(heard);
    else if (heard !== undefined) end(heard);
  }

  async #send(
    agent: AnnouncedAgent,
    { text, skill, contextId, messageId: taskId }: AgentRequest & { readonly text: string },
    { timeoutMs, depth, hasReadUntrusted, signal }: GiveTaskOptions,
  ): Promise<void> {
    const parts = [{ kind: "text", text, data: null, mimeType: null }];
    const body = encodeMessage("AgentTaskRequest", {
      taskId,
      contextId: contextId ?? null,
      skill: skill ?? null,
      message: { role: "user", parts },
    });
    const envelope = createEnvelope({
      topic: taskTopics.task(agent.name),
      type: messages.AgentTaskRequest.type,
      source: this.#source,
      correlationId: taskId,
      replyTo: this.#replyTo,
      ttlMs: timeoutMs,
      headers: {
        [Header.TimeoutMs]: String(timeoutMs),
        [Header.Depth]: String(depth),
        ...(hasReadUntrusted ? { [Header.Untrusted]: "true" } : {}),
      },
      body,
    });
    try {
      await this.#bus.publish(envelope, { mandatory: true, timeoutMs, signal });
    } catch (error) {
      if (error instanceof UnroutableError)
        throw nothingSent(ToolErrorCode.Unavailable, agent, "nobody takes its tasks now. It may have ended");
      if (error instanceof QueueFullError)
        throw nothingSent(ToolErrorCode.Overloaded, agent, "too many tasks wait for it. Try again later");
      if (error instanceof BusUnavailableError)
        throw failed(ToolErrorCode.OutcomeUnknown, agent, "may have been sent the task, as the bus is away", true);
      throw error;
    }
  }

  /** The agent may be away, or refuse: nobody waits for the task any more. */
  async #cancel(agent: AnnouncedAgent, taskId: string, contextId: string): Promise<void> {
    const envelope = createEnvelope({
      topic: taskTopics.cancel(agent.name),
      type: messages.AgentTaskCancelRequest.type,
      source: this.#source,
      correlationId: taskId,
      replyTo: this.#replyTo,
      ttlMs: CANCEL_TTL_MS,
      body: encodeMessage("AgentTaskCancelRequest", { taskId, contextId }),
    });
    await this.#bus.publish(envelope, { timeoutMs: CANCEL_TIMEOUT_MS }).catch(() => {});
  }
}

/** @returns how the task has ended, or progress as text; undefined if the message says nothing of it */
function heardIn(
  { type, correlationId: id, body }: Envelope,
  { agent, isAtWork }: Pick<Pending, "agent" | "isAtWork">,
): Ended | ToolError | string | undefined {
  if (type === messages.AgentTaskError.type) {
    const error = decodeMessage("AgentTaskError", body);
    if (!error.ok) return unreadable(agent);
    // The task goes on where its cancel is refused, and nobody waits for it any more.
    return error.value.taskId === id && error.value.code !== "task_not_cancelable"
      ? errorOf(agent, error.value, isAtWork)
      : undefined;
  }
  const isStatus = type === messages.AgentTaskStatusUpdate.type;
  const told = isStatus ? decodeMessage("AgentTaskStatusUpdate", body) : decodeMessage("AgentTaskResult", body);
  if (!told.ok) return isStatus ? undefined : unreadable(agent);
  const { taskId, contextId, state: number, message } = told.value;
  const state = ENDS.get(number);
  if (taskId !== id) return undefined;
  const words = messageText(message);
  // Of all states that are told on the way only a question ends the wait: a result follows the others.
  if (state === undefined || (isStatus && state !== "input_required")) return words.slice(0, MAX_PROGRESS) || undefined;
  return { state, text: isStatus ? words : resultText(told.value), contextId: idOf(contextId ?? "") };
}

const nothingSent = (code: ToolErrorCode, { name }: AnnouncedAgent, why: string): ToolError =>
  new ToolError(code, `Nothing was sent to the agent "${name}": ${why}.`, { details: { mayHaveRun: false } });

const failed = (code: ToolErrorCode, { name }: AnnouncedAgent, what: string, mayHaveRun: boolean): ToolError =>
  new ToolError(code, `The agent "${name}" ${what}.`, { details: { mayHaveRun } });

const unreadable = (agent: AnnouncedAgent): ToolError =>
  failed(
    ToolErrorCode.OutcomeUnknown,
    agent,
    "has done the task, and its answer cannot be read. Find out before you give it again",
    true,
  );

/** Codes of the original that blame the request, not the agent. */
const REFUSALS: ReadonlySet<string> = new Set(["invalid_request", "skill_not_supported", "task_not_found"]);

function errorOf(agent: AnnouncedAgent, { code, message, isRetryable }: AgentTaskError, isAtWork: boolean): ToolError {
  const isRefusal = REFUSALS.has(code) && !isAtWork;
  const said = JSON.stringify(visibleText(message).slice(0, MAX_SAID));
  const what = isRefusal ? "refuses the task" : "has failed at the task";
  return new ToolError(
    isRefusal ? ToolErrorCode.InvalidArguments : ToolErrorCode.ExecutionFailed,
    `The agent "${agent.name}" ${what} (${visibleText(code).slice(0, 50)}). Its words: ${said}.`,
    {
      isRetryable: !isRefusal && isRetryable === true,
      details: { mayHaveRun: !isRefusal },
      trust: saidBy(`a2a:${agent.name}`),
    },
  );
}

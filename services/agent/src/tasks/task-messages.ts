import { hash } from "node:crypto";
import { type Bus, type Logger, UnroutableError } from "@rockbot/bus";
import {
  type AgentTaskMessage,
  createEnvelope,
  type Envelope,
  encodeMessage,
  isTaskReplyTopic,
  type MessageName,
  type Messages,
  messages,
  taskTopics,
} from "@rockbot/contracts";

/** A task of an agent on the bus, and where its news go. */
export interface TaskPlace {
  /** As it is announced. */
  readonly agent: string;
  readonly taskId: string;
  readonly contextId: string | null;
  readonly correlationId: string | undefined;
  readonly replyTo: string;
  /** The key of the task: a message that is sent for it twice keeps its id. */
  readonly key: string;
}

/** The states of a task that the agent tells of. */
export const TaskState = { working: 1, inputRequired: 2, completed: 3, canceled: 5 } as const;

/** Codes of AgentTaskError, of the .NET original. */
export type TaskErrorCode =
  | "task_not_found"
  | "task_not_cancelable"
  | "skill_not_supported"
  | "execution_failed"
  | "invalid_request";

export interface TaskMessagesOptions {
  readonly log: Logger;
}

/** The news of a task that goes on is of no use later. */
const STATUS_TTL_MS = 60_000;
/** A program that comes back may have to declare its queue again. */
const OFFER_AGAIN_MS = 2_000;

/** What agents on the bus say of their tasks, in the form of the .NET original. */
export class TaskMessages {
  readonly #bus: Bus;
  readonly #log: Logger;

  constructor(bus: Bus, { log }: TaskMessagesOptions) {
    this.#bus = bus;
    this.#log = log;
  }

  /** @param words what the agent does; undefined at first. @throws {BusUnavailableError} */
  async status(
    { agent: source, taskId, contextId, correlationId }: TaskPlace,
    words: string | undefined,
  ): Promise<void> {
    const message = words === undefined ? null : said(words);
    const body = encodeMessage("AgentTaskStatusUpdate", { taskId, contextId, state: TaskState.working, message });
    const type = messages.AgentTaskStatusUpdate.type;
    await this.#bus.publish(
      createEnvelope({ topic: taskTopics.status, type, source, correlationId, ttlMs: STATUS_TTL_MS, body }),
    );
  }

  /** @throws {BusUnavailableError} */
  result(place: TaskPlace, state: number, words: string): Promise<void> {
    const { taskId, contextId } = place;
    return this.#answer(place, "AgentTaskResult", { taskId, contextId, state, artifacts: null, message: said(words) });
  }

  /** @throws {BusUnavailableError} */
  error(
    place: TaskPlace,
    code: TaskErrorCode,
    message: string,
    { isRetryable = false }: { readonly isRetryable?: boolean } = {},
  ): Promise<void> {
    const { taskId, contextId } = place;
    return this.#answer(place, "AgentTaskError", { taskId, contextId, code, message, isRetryable });
  }

  async #answer<Name extends MessageName>(
    { agent, taskId, correlationId, replyTo, key }: TaskPlace,
    name: Name,
    body: Messages[Name],
  ): Promise<void> {
    const messageId = hash("sha256", JSON.stringify([name, key]), "hex").slice(0, 32);
    const envelope = {
      topic: replyTo,
      messageId,
      type: messages[name].type,
      source: agent,
      correlationId,
      body: encodeMessage(name, body),
    };
    try {
      await this.#bus.publish(createEnvelope(envelope), { mandatory: true, offerAgainMs: OFFER_AGAIN_MS });
    } catch (error) {
      if (!(error instanceof UnroutableError)) throw error;
      this.#log.info(
        { topic: replyTo, task: taskId },
        "the sender of a task on the bus is gone: its session has the answer",
      );
    }
  }
}

const said = (text: string): AgentTaskMessage => ({
  role: "agent",
  parts: [{ kind: "text", text, data: null, mimeType: null }],
});

/** Where answers to a task go; undefined if its sender may not hear that topic. */
export function taskReplyTopic(
  { replyTo = taskTopics.response, userId }: Envelope,
  verifiesSender: boolean,
): string | undefined {
  if (!verifiesSender || userId === undefined) return isTaskReplyTopic(replyTo) ? replyTo : undefined;
  return isTaskReplyTopic(replyTo, userId) ? replyTo : undefined;
}

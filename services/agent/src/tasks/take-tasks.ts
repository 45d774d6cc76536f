import { hash } from "node:crypto";
import type { Agent } from "@rockbot/agent";
import { type Bus, DeadLetterError, type Death, type Delivery, type Logger } from "@rockbot/bus";
import {
  AGENT_TASK_SUBSCRIPTION,
  type AgentTaskRequest,
  decodeMessage,
  type Envelope,
  hasReadUntrusted,
  ToolErrorCode,
  taskTopics,
  waitsMs,
} from "@rockbot/contracts";
import { callerOf, depthOf, type Identity, METERED, type MessageMeter } from "@rockbot/tools";
import type { TurnAnswer, TurnCalls } from "../user/turn-calls.ts";
import { CHAT_SKILL, type ServedAgent } from "./announce-agents.ts";
import { type TaskErrorCode, type TaskMessages, type TaskPlace, TaskState, taskReplyTopic } from "./task-messages.ts";
import { taskText } from "./task-text.ts";

export interface TakeTasksOptions {
  readonly agents: readonly ServedAgent[];
  readonly agent: Pick<Agent, "cancel" | "isToBlame">;
  readonly turns: Pick<TurnCalls, "ask">;
  readonly messages: TaskMessages;
  readonly identity: Pick<Identity, "senderOf">;
  readonly meter: Pick<MessageMeter, "take" | "takeExtra" | "drop">;
  readonly turnTimeoutMs: number;
  readonly drainMs: number;
  readonly log: Logger;
}

const TAKEN =
  "Cannot take the task: another message had its taskId. Give each task its own. The contextId goes on in a conversation, or answers a question.";

type TaskIds = Pick<AgentTaskRequest, "taskId" | "contextId">;

/** Whose a message is, and where its answers go. */
interface Asked {
  readonly message: Envelope;
  readonly served: ServedAgent;
  readonly caller: string;
  readonly replyTo: string;
  /** Why nothing is done, in words. */
  readonly refusal: string | undefined;
}

/**
 * Takes tasks for agents on the bus, and asks to cancel them. A task is a turn: it outlives this process, and the same
 * task of the same sender is the same turn. Each gets one answer, which may be a question. A message that names no
 * topic of its sender is dead-lettered. Instances share the messages.
 */
export function takeTasks(bus: Bus, options: TakeTasksOptions): Promise<AsyncDisposable> {
  const taker = new TaskTaker(bus, options);
  return bus.subscribe(
    {
      name: AGENT_TASK_SUBSCRIPTION,
      topics: options.agents.flatMap(({ name }) => [taskTopics.task(name), taskTopics.cancel(name)]),
      drainMs: options.drainMs,
      onDeadLetter: (message, death) => taker.giveUp(message, death),
      isToBlame: (message) => taker.isToBlame(message),
      ...METERED,
    },
    (message, delivery) => taker.take(message, delivery),
  );
}

class TaskTaker {
  readonly #bus: Bus;
  readonly #options: TakeTasksOptions;
  readonly #byTopic: ReadonlyMap<string, ServedAgent>;

  constructor(bus: Bus, options: TakeTasksOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#byTopic = new Map(
      options.agents.flatMap((served) =>
        [taskTopics.task(served.name), taskTopics.cancel(served.name)].map((topic) => [topic, served] as const),
      ),
    );
  }

  async take(message: Envelope, delivery: Delivery): Promise<void> {
    const { identity, meter } = this.#options;
    const sender = identity.senderOf(message);
    const caller = callerOf(message, sender);
    // One that came before may have been taken, and one whose delivery is lost has been: neither is said not to be.
    const waitMs = delivery.isRedelivered ? undefined : meter.take("invoke", caller, message.body.byteLength);
    if (waitMs !== undefined && !meter.takeExtra("refusal", caller)) return meter.drop("invoke", caller);
    if (waitMs !== undefined && (await delivery.isOurs?.()) === false) return;
    const asked = this.#askedIn(message);
    if (asked === undefined) {
      if (!meter.takeExtra("unanswerable", caller)) return meter.drop("unanswerable", caller);
      throw new DeadLetterError("the message names no topic that answers to its sender may go to");
    }
    const tooMany = waitMs === undefined ? undefined : `too many messages: try again in ${Math.ceil(waitMs / 1_000)} s`;
    const known = { ...asked, refusal: asked.refusal ?? tooMany };
    return message.topic === taskTopics.cancel(asked.served.name) ? this.#cancel(known) : this.#run(known, delivery);
  }

  /** Answers a task that the bus has given up: agents have died over it. */
  async giveUp(message: Envelope, { reason }: Death): Promise<void> {
    const asked = this.#askedIn(message);
    const decoded = decodeMessage("AgentTaskRequest", message.body);
    if (asked === undefined || asked.refusal !== undefined || !decoded.ok || reason === "rejected") return;
    await this.#options.messages.error(
      placeOf(asked, decoded.value),
      "execution_failed",
      "The agent broke off over the task again and again.",
    );
  }

  /** Tells whether a message that crashed its agents again and again may be the cause. */
  async isToBlame(message: Envelope): Promise<boolean> {
    const asked = this.#askedIn(message);
    const decoded = decodeMessage("AgentTaskRequest", message.body);
    return asked === undefined || !decoded.ok || this.#options.agent.isToBlame(turnOf(asked, decoded.value));
  }

  /** @returns undefined if its sender cannot be answered */
  #askedIn(message: Envelope): Asked | undefined {
    const sender = this.#options.identity.senderOf(message);
    const isKnown = !("refusal" in sender) || sender.mayHear !== undefined;
    const replyTo = isKnown ? taskReplyTopic(message, this.#bus.traits.verifiesSender) : undefined;
    const served = this.#byTopic.get(message.topic);
    if (replyTo === undefined || served === undefined) return undefined;
    return {
      message,
      served,
      replyTo,
      caller: callerOf(message, sender),
      refusal: "refusal" in sender ? sender.refusal.message : undefined,
    };
  }

  async #run(asked: Asked, delivery: Delivery): Promise<void> {
    const { messages, turns, turnTimeoutMs } = this.#options;
    const { message, served, refusal } = asked;
    const decoded = decodeMessage("AgentTaskRequest", message.body);
    if (!decoded.ok)
      return messages.error(
        placeOf(asked, idsIn(decoded.fault.value)),
        "invalid_request",
        `Cannot take the task: ${decoded.fault.message}.`,
      );
    const { value: task } = decoded;
    const place = placeOf(asked, task);
    if (refusal !== undefined) return messages.error(place, "invalid_request", `Cannot take the task: ${refusal}.`);
    if (task.skill != null && task.skill !== CHAT_SKILL)
      return messages.error(
        place,
        "skill_not_supported",
        `${served.name} has no skill ${JSON.stringify(task.skill)}. It has "${CHAT_SKILL}".`,
      );
    const text = taskText(task.message);
    if ("fault" in text) return messages.error(place, "invalid_request", `Cannot take the task: ${text.fault}.`);
    await messages.status(place, undefined);
    const timeoutMs = Math.min(turnTimeoutMs, waitsMs(message) ?? turnTimeoutMs);
    const question = {
      ...turnOf(asked, task),
      message: text.text,
      agent: served.definition,
      depth: depthOf(message),
      hasReadUntrusted: hasReadUntrusted(message),
    };
    const answer = await turns.ask(question, { timeoutMs, delivery, onStep: (words) => messages.status(place, words) });
    if (answer === undefined) return;
    // Whoever is asked needs the conversation's id to answer in it.
    await this.#tell(answer.asksBack === true ? { ...place, contextId: question.sessionId } : place, answer);
  }

  async #tell(place: TaskPlace, { text, isAnswer, asksBack = false, error, code }: TurnAnswer): Promise<void> {
    const { messages } = this.#options;
    if (code === ToolErrorCode.Cancelled) return messages.result(place, TaskState.canceled, "The task was cancelled.");
    if (error?.details?.["reason"] === "conflict") return messages.error(place, "invalid_request", TAKEN);
    if (error !== undefined)
      return messages.error(place, codeOf(error.code), error.message, { isRetryable: error.isRetryable });
    return isAnswer
      ? messages.result(place, asksBack ? TaskState.inputRequired : TaskState.completed, text)
      : messages.error(place, "execution_failed", text || "There is no answer.");
  }

  /**
   * A task that runs is cancelled, wherever it runs: its own answer says so. Any other is refused, in the original's
   * words.
   */
  async #cancel(asked: Asked): Promise<void> {
    const { messages, agent, log } = this.#options;
    const decoded = decodeMessage("AgentTaskCancelRequest", asked.message.body);
    const ids = decoded.ok ? decoded.value : idsIn(decoded.fault.value);
    const { caller, sessionId, turnId } = turnOf(asked, ids);
    const isOurs = decoded.ok && asked.refusal === undefined;
    const cancelled = isOurs
      ? await agent.cancel(caller, sessionId, turnId).catch((error: unknown) => {
          log.warn({ reason: String(error) }, "could not cancel a task: working memory does not answer");
          return [];
        })
      : [];
    if (cancelled.length === 0)
      await messages.error(placeOf(asked, ids, "cancel"), "task_not_cancelable", "task cannot be cancelled");
  }
}

/** The turn of a task. Ids are of their sender: others' of the same name are others. */
function turnOf({ caller, served }: Asked, { taskId, contextId }: TaskIds) {
  const turnId = hash("sha256", JSON.stringify(["task", caller, served.name, taskId]), "hex").slice(0, 32);
  return { caller, sessionId: contextId || turnId, turnId };
}

function placeOf(asked: Asked, ids: TaskIds, what = "task"): TaskPlace {
  const { message, served, replyTo, caller } = asked;
  const { taskId, contextId = null } = ids;
  const { correlationId } = message;
  return {
    agent: served.name,
    taskId,
    contextId,
    correlationId,
    replyTo,
    key: JSON.stringify([what, caller, served.name, taskId]),
  };
}

/** The ids in a message that cannot be read otherwise. */
function idsIn(value: unknown): TaskIds {
  const { taskId, contextId } = (value ?? {}) as { readonly taskId?: unknown; readonly contextId?: unknown };
  return {
    taskId: typeof taskId === "string" && taskId !== "" ? taskId.slice(0, 128) : "unknown",
    contextId: typeof contextId === "string" ? contextId.slice(0, 128) : null,
  };
}

const codeOf = (code: string): TaskErrorCode =>
  code === ToolErrorCode.InvalidArguments || code === ToolErrorCode.Denied ? "invalid_request" : "execution_failed";

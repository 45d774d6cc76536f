import { type Message, Role } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { backoffMs, pause } from "@rockbot/base";
import { BusClosedError } from "@rockbot/bus";
import { saidBy, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { agentError, isRefusal, isTooLarge, refusalWords } from "./agent-error.ts";
import { type EndState, TaskView } from "./task-view.ts";

/** What an agent is to do. Without a message its task is waited for. */
export interface AgentRequest {
  readonly text: string | undefined;
  readonly skill: string | undefined;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  /** The same at each attempt. */
  readonly messageId: string;
}

export interface RunTaskOptions {
  /** What models call the agent. */
  readonly agent: string;
  /** Aborts when nobody waits any more, or the time is over. */
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
  /** Hears the ids as soon as they are known. */
  readonly onIds: (ids: {
    readonly taskId: string | undefined;
    readonly contextId: string | undefined;
  }) => Promise<void>;
}

export interface TaskEnd {
  readonly state: EndState;
  readonly text: string;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
}

/** How often in a row the agent may not answer when it is asked for a task. */
const MAX_SILENCE = 5;
/** How often in a row it may name a state that A2A does not have. */
const MAX_UNKNOWN = 3;
const FIRST_ASK_MS = 250;
const MAX_ASK_MS = 5_000;
/** The timeout of one question after a task, and of its cancellation. */
const ASK_TIMEOUT_MS = 15_000;
const CANCEL_TIMEOUT_MS = 5_000;

/**
 * Gives an agent a task, and waits for its end. If the stream ends before the task does, the agent is asked until it
 * has ended.
 * @throws {ToolError} `outcome_unknown` once the task may have begun and its end cannot be learnt; the reason of
 * `signal` once that aborts, after the agent was asked to cancel the task, unless the service stops
 */
export async function runTask(client: Client, request: AgentRequest, options: RunTaskOptions): Promise<TaskEnd> {
  const view = new TaskView({
    taskId: request.taskId,
    isAnswered: request.taskId !== undefined && request.text !== undefined,
  });
  try {
    if (request.text !== undefined) await send(client, request, view, options);
    if (view.end === undefined) await askUntilEnd(client, view, options);
  } catch (error) {
    // Nobody reads on. A service that stops leaves the task to the one that takes the call over.
    const isLeft = options.signal.reason instanceof BusClosedError;
    if ((options.signal.aborted && !isLeft) || isTooLarge(error)) await cancelTask(client, view.taskId);
    options.signal.throwIfAborted();
    throw error;
  }
  if (view.end === undefined) throw lost(options.agent, view, "it did not say how the task ended");
  return { state: view.end, text: view.text, taskId: view.taskId, contextId: view.contextId };
}

async function cancelTask(client: Client, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  // It has ended, cannot be cancelled, or the agent is away: nobody waits for it any more.
  await client
    .cancelTask({ tenant: "", id, metadata: undefined }, { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS) })
    .catch(() => {});
}

/**
 * Sends the message, and takes in what comes. A stream that breaks off after the task's id was said is no failure of
 * the task.
 */
async function send(
  client: Client,
  request: AgentRequest,
  view: TaskView,
  { agent, signal, onProgress, onIds }: RunTaskOptions,
): Promise<void> {
  const configuration = {
    acceptedOutputModes: ["text/plain", "text/markdown", "application/json"],
    taskPushNotificationConfig: undefined,
    returnImmediately: false,
  };
  const params = { tenant: "", message: messageOf(request), configuration, metadata: undefined };
  let isHeard = false;
  const isStreaming = (await client.getAgentCard()).capabilities?.streaming === true;
  try {
    if (!isStreaming) {
      const result = await client.sendMessage(params, { signal });
      view.take({
        payload: "messageId" in result ? { $case: "message", value: result } : { $case: "task", value: result },
      });
      view.close();
      await onIds(view);
      return;
    }
    let said: string | undefined;
    for await (const event of client.sendMessageStream(params, { signal })) {
      isHeard = true;
      const progress = view.take(event)?.slice(0, 500);
      await onIds(view);
      if (view.end !== undefined) return;
      if (progress !== undefined && progress !== said) onProgress(progress);
      said = progress ?? said;
    }
  } catch (error) {
    if (signal.aborted || isTooLarge(error) || !isHeard) throw agentError(agent, error);
    if (view.taskId === undefined) throw lost(agent, view, "the stream of its answer broke off");
    onProgress("The stream broke off; asking for the task");
  }
}

async function askUntilEnd(
  client: Client,
  view: TaskView,
  { agent, signal, onProgress, onIds }: RunTaskOptions,
): Promise<void> {
  const id = view.taskId;
  if (id === undefined) throw lost(agent, view, "its answer names neither a result nor a task");
  for (let asked = 1, silent = 0, unknown = 0; ; asked++) {
    try {
      const late = AbortSignal.timeout(ASK_TIMEOUT_MS);
      const task = await client.getTask({ tenant: "", id }, { signal: AbortSignal.any([signal, late]) });
      silent = 0;
      const progress = task.id === id ? view.takeTask(task, true) : undefined;
      await onIds(view);
      if (progress !== undefined) onProgress(progress.slice(0, 500));
    } catch (error) {
      signal.throwIfAborted();
      if (isTooLarge(error)) throw agentError(agent, error);
      // The agent took the task: whatever it says now, the task may have run.
      if (isRefusal(error) || ++silent >= MAX_SILENCE)
        throw lost(agent, view, whyLost(error), { isForGood: isRefusal(error) });
    }
    if (view.end !== undefined) return;
    unknown = silent > 0 || view.isKnown ? 0 : unknown + 1;
    if (unknown >= MAX_UNKNOWN) throw lost(agent, view, "it names a state of the task that A2A does not have");
    await pause(backoffMs(asked, { baseMs: FIRST_ASK_MS, maxMs: MAX_ASK_MS, leastPart: 0.5 }), signal);
    signal.throwIfAborted();
  }
}

function messageOf({ text, skill, taskId, contextId, messageId }: AgentRequest): Message {
  return {
    messageId,
    contextId: contextId ?? "",
    taskId: taskId ?? "",
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: "text", value: text ?? "" }, metadata: undefined, filename: "", mediaType: "text/plain" },
    ],
    // A2A has no field for the skill that is meant.
    metadata: skill === undefined ? undefined : { skill },
    extensions: [],
    referenceTaskIds: [],
  };
}

function whyLost(error: unknown): string {
  const said = refusalWords(error);
  if (said !== undefined) return `it does not report on the task ${said}`;
  return isRefusal(error)
    ? "it refuses the present credential, which an operator has to check"
    : "it does not answer any more";
}

/** The error for a task that the agent may have taken, with its ids as far as known. */
export function lost(
  agent: string,
  { taskId, contextId }: { readonly taskId?: string | undefined; readonly contextId?: string | undefined },
  why: string,
  { isForGood = false }: { /** Asking the agent for the task is of no use. */ readonly isForGood?: boolean } = {},
): ToolError {
  const byContext =
    contextId === undefined
      ? "Find out before you give it again."
      : `Ask for it with invoke_agent, with the context_id ${JSON.stringify(contextId)}.`;
  const byTask = isForGood
    ? `Find out what came of the task ${JSON.stringify(taskId)} before you give it again.`
    : `Look after it with invoke_agent, with the task_id ${JSON.stringify(taskId)} and without a message.`;
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `The agent "${agent}" was given the task, and its outcome is not known: ${why}. ${taskId === undefined ? byContext : byTask}`,
    {
      details: {
        mayHaveRun: true,
        ...(taskId === undefined ? {} : { taskId }),
        ...(contextId === undefined ? {} : { contextId }),
      },
      ...(taskId === undefined && contextId === undefined ? {} : { trust: saidBy(`a2a:${agent}`) }), // the agent makes up the ids
    },
  );
}

import { createHash } from "node:crypto";
import { saidBy, type ToolDefinition, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import {
  advised,
  defineTool,
  type ResumableCallContext,
  type Tool,
  type ToolCallContext,
  type ToolResult,
} from "@rockbot/tools";
import { placeOf } from "../agents/agent-card.ts";
import { type AgentList, type ReadyAgent, readyAgent } from "../agents/agent-pool.ts";
import { isAnnounced } from "../agents/known-agent.ts";
import type { AgentFetchParts } from "../client/agent-fetch.ts";
import { connectAgent } from "../client/connect-agent.ts";
import type { GiveTaskOptions, TaskGiver } from "../client/give-task.ts";
import { type AgentRequest, lost, runTask, type TaskEnd } from "../client/run-task.ts";
import type { TaskIds, TaskOwners } from "./task-owners.ts";

export interface InvokeAgentParts extends AgentFetchParts {
  readonly agents: AgentList;
  readonly busTasks: TaskGiver;
  readonly owners: TaskOwners;
  /** The names as advice for models. */
  readonly names: readonly string[];
}

type InvokeAgentInput = typeof tools.invokeAgent extends ToolDefinition<infer Input, unknown> ? Input : never;

const DEFAULT_MINUTES = 5;
/** What is left of a call's time to have the task cancelled, and to say so. */
const RESERVE_MS = 6_000;

/** `invoke_agent`: gives an agent a task, by A2A or over the bus, and waits for its end. */
export function invokeAgent({ agents, busTasks, owners, names, ...parts }: InvokeAgentParts): Tool {
  async function run({ agent, card }: ReadyAgent, request: AgentRequest, options: GiveTaskOptions): Promise<TaskEnd> {
    if (isAnnounced(agent)) return busTasks.give(agent, request, options);
    return runTask(await connectAgent({ agent, card }, parts), request, { ...options, agent: agent.name });
  }
  /** @param begun the ids of the task that is waited for, if an earlier execution of the call may have given it */
  async function invoke(
    input: InvokeAgentInput,
    context: ResumableCallContext,
    begun?: TaskIds,
  ): Promise<ToolResult<object>> {
    const { caller, signal, toolCallId, progress } = context;
    const ready = readyAgent(agents.all, input.agent_name);
    checkInput(input, ready);
    const { name } = ready.agent;
    await owners.check(caller, name, "task_id", input.task_id);
    await owners.check(caller, name, "context_id", input.context_id);
    const ms = timeFor(input, context);
    if (ms < 1) throw tooShort(name);
    const late = AbortSignal.timeout(ms);
    let ids: TaskIds = begun ?? {};
    try {
      const { taskId = input.task_id, contextId = input.context_id } = ids;
      const text = begun === undefined ? input.message : undefined;
      const request = { text, skill: input.skill, taskId, contextId, messageId: messageId(caller, toolCallId) };
      const end = await run(ready, request, {
        signal: AbortSignal.any([signal, late]),
        onProgress: (message) => progress({ message }),
        async onIds({ taskId, contextId }) {
          if (taskId === ids.taskId && contextId === ids.contextId) return;
          ids = { taskId, contextId };
          // An agent on the bus is not asked for its tasks.
          await owners.note(caller, name, {
            toolCallId,
            contextId,
            taskId: isAnnounced(ready.agent) ? undefined : taskId,
          });
        },
        timeoutMs: ms,
        depth: (context.depth ?? 0) + 1,
        hasReadUntrusted: context.hasReadUntrusted === true,
      });
      return resultOf(ready, end);
    } catch (error) {
      if (late.aborted && !signal.aborted) throw tooSlow(name, ms, ids.taskId);
      throw error;
    }
  }
  /** The agent is not given a task twice. */
  async function resume(input: InvokeAgentInput, context: ResumableCallContext): Promise<ToolResult<object>> {
    const ids: TaskIds = { taskId: input.task_id, ...(await owners.ofCall(context.caller, context.toolCallId)) };
    try {
      if (ids.taskId !== undefined) return await invoke(input, context, ids);
    } catch (error) {
      context.signal.throwIfAborted();
      // What refuses the question says nothing of the task.
      if (error instanceof ToolError && error.details?.["mayHaveRun"] === true) throw error;
    }
    throw lost(input.agent_name, ids, "the service that waited for it is gone");
  }
  return defineTool(
    advised(tools.invokeAgent, { agent_name: names }),
    (input, context) => (context.mayHaveBegun === true ? resume(input, context) : invoke(input, context)),
    { isResumable: true },
  );
}

/** @throws {ToolError} that names all that is wrong */
function checkInput({ message, skill, task_id: taskId }: InvokeAgentInput, { agent, card, trust }: ReadyAgent): void {
  const faults = [
    ...(message === undefined && taskId === undefined ? ["message is missing: say what the agent is to do"] : []),
    ...(skill === undefined || card.skills.some(({ id }) => id === skill)
      ? []
      : [
          `the agent has no skill ${JSON.stringify(skill)} that is approved. It has ${card.skills.map(({ id }) => JSON.stringify(id)).join(", ") || "none"}`,
        ]),
  ];
  if (faults.length > 0)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Nothing was sent to the agent "${agent.name}": ${faults.join("; ")}.`,
      {
        details: { mayHaveRun: false },
        trust, // it may name skills
      },
    );
}

/** How long the task may take, in milliseconds. */
const timeFor = (
  { timeout_minutes: minutes = DEFAULT_MINUTES }: InvokeAgentInput,
  { deadline }: Pick<ToolCallContext, "deadline">,
): number => Math.floor(Math.min(minutes * 60_000, deadline - performance.now() - RESERVE_MS));

/** An agent that looks for repeats finds one. */
const messageId = (caller: string, toolCallId: string): string =>
  createHash("sha256")
    .update(JSON.stringify([caller, toolCallId]))
    .digest("hex")
    .slice(0, 32);

function resultOf({ agent, card }: ReadyAgent, { state, text, taskId, contextId }: TaskEnd): ToolResult<object> {
  const isAsking = state === "input_required" || state === "auth_required";
  const ids = { ...(taskId === undefined ? {} : { taskId }), ...(contextId === undefined ? {} : { contextId }) };
  return {
    content: isAsking ? asked(agent.name, { state, text, taskId, contextId }) : ended(agent.name, state, text),
    structured: { agentName: agent.name, state, ...ids },
    isError: !isAsking && state !== "completed",
    trust: saidBy(placeOf({ agent, card })),
  };
}

const ended = (name: string, state: TaskEnd["state"], text: string): string => {
  if (state === "completed")
    return text === "" ? `The agent "${name}" has ended the task, and says nothing of it.` : text;
  return `The agent "${name}" ended the task as ${state}${text === "" ? ", and does not say why." : `:\n\n${text}`}`;
};

function asked(name: string, { state, text, taskId, contextId }: TaskEnd): string {
  const ids = {
    agent_name: name,
    ...(taskId === undefined ? {} : { task_id: taskId }),
    ...(contextId === undefined ? {} : { context_id: contextId }),
  };
  const wants = state === "auth_required" ? "wants its user to sign in somewhere" : "asks for more";
  const how = `Ask your user if you do not know. Answer by invoke_agent with ${JSON.stringify(ids)} and the answer as message.`;
  return `The agent "${name}" ${wants} before it goes on:\n\n${text === "" ? "(it does not say what)" : text}\n\n${how}`;
}

const tooShort = (name: string): ToolError =>
  new ToolError(
    ToolErrorCode.Timeout,
    `Nothing was sent to the agent "${name}": the call has no time for it. It takes ${RESERVE_MS / 1_000} s to cancel a task, so give the call more.`,
    { details: { mayHaveRun: false } },
  );

const tooSlow = (name: string, ms: number, taskId: string | undefined): ToolError =>
  new ToolError(
    ToolErrorCode.Timeout,
    `The agent "${name}" did not end the task within ${Math.round(ms / 1_000)} s. ${
      taskId === undefined
        ? "It did not say the task's id, so it may still work on it."
        : `It was asked to cancel the task ${JSON.stringify(taskId)}.`
    }`,
    {
      details: { mayHaveRun: true, ...(taskId === undefined ? {} : { taskId }) },
      ...(taskId === undefined ? {} : { trust: saidBy(`a2a:${name}`) }),
    },
  );

import { hash } from "node:crypto";
import type { AgentHost, AgentPlugin, Aside, TurnScope } from "@rockbot/agent";
import { type ContentTrust, saidBy, type ToolSpawnSubagentInput, tools } from "@rockbot/contracts";
import { withMemory } from "@rockbot/memory";
import { defineTool, type Tool, type ToolCallContext } from "@rockbot/tools";
import { type HelperMessages, helperSession } from "./helper-messages.ts";
import {
  type HelperBounds,
  type HelperRecord,
  type HelperRecords,
  type HelperRefusal,
  isActive,
} from "./helper-records.ts";
import { helpersGuide } from "./helpers-guide.ts";
import { type StartHelperOptions, type StartHelperParts, startHelper } from "./start-helper.ts";

export interface HelpersPluginOptions extends StartHelperParts {
  readonly messages: Pick<HelperMessages, "progress">;
}

/** The most helpers of a family that run at once. */
const MAX_ACTIVE = 3;
/**
 * In a row, by turns that no user has begun: a model that answers each helper's end with new helpers would go on for
 * thousands of turns.
 */
const MAX_UNATTENDED = 20;
/** A call has 20 minutes. */
const MAX_CALL_MS = 20 * 60_000;
const DEFAULT_MINUTES = 10;
/** After its request's end a helper's record may still be written. */
const LATE_MS = 60_000;
const HELPER_SESSION = /^subagent-[0-9a-f]{12}$/;
/** The beginning of the message in which the agent tells a session that its helper has ended. */
const ENDED = /^Your helper ([0-9a-f]{12}) has ended/;

/**
 * The tools of a conversation for its helpers, if its caller may use `agent__helper`. A session that another has
 * started has none: nobody may be there any more to read the result. A helper's session can report its progress.
 */
export const helpers = ({ records, messages, ...parts }: HelpersPluginOptions): AgentPlugin => ({
  name: "helpers",
  async start(host) {
    const stop = new AbortController();
    const starting = { records, ...parts, stopping: stop.signal };
    return {
      guides: [[helpersGuide(MAX_ACTIVE), tools.agentHelper.name]],
      tools(scope) {
        const isAllowed =
          scope.sessionId === scope.rootSessionId &&
          host.caller.toolsOf(scope.caller).some(({ name }) => name === tools.agentHelper.name);
        const own = isAllowed
          ? [spawnTool(host, scope, starting), cancelTool(scope, records), listTool(scope, records)]
          : [];
        return scope.origin === "helper" && HELPER_SESSION.test(scope.sessionId)
          ? [...own, progressTool(scope, records, messages)]
          : own;
      },
      aside: (scope, message) => resultAside(scope, message, records),
      async [Symbol.asyncDispose]() {
        stop.abort();
      },
    };
  },
});

/**
 * Beside the message that a helper has ended stands its result. It may hold strangers' words, and is fenced then.
 * Beside any message of the session itself stand the helpers that have failed, of which nobody was left to tell.
 */
async function resultAside(scope: TurnScope, message: string, records: HelperRecords): Promise<Aside | undefined> {
  const { caller, sessionId, rootSessionId, turnId, origin } = scope;
  const taskId = origin === "helper" ? ENDED.exec(message)?.[1] : undefined;
  const isItself = sessionId === rootSessionId;
  const untold = isItself
    ? await records.takeUntold(caller, rootSessionId, { turnId, but: taskId }).catch(() => [])
    : []; // the next turn has them else
  const ended = taskId === undefined ? undefined : await records.get(caller, rootSessionId, taskId);
  const told = [...untold, ...(ended?.result === undefined ? [] : [ended])];
  if (told.length === 0) return undefined;
  const texts = told.map((record) =>
    record === ended ? `The result of helper ${taskId}:\n${ended.result || "(no text)"}` : failureText(record),
  );
  return { text: texts.join("\n\n"), isUntrusted: told.some(({ isUntrusted }) => isUntrusted) };
}

const failureText = ({ taskId, progress, description }: HelperRecord): string =>
  `Helper ${taskId} has failed, and you were not told before: ${progress ?? "nothing is known of it"}. Its task was: ${description}`;

function spawnTool(
  host: AgentHost,
  scope: TurnScope,
  parts: StartHelperParts & Pick<StartHelperOptions, "stopping">,
): Tool {
  const { records, turnTimeoutMs } = parts;
  const { caller, sessionId, rootSessionId, origin } = scope;
  const bounds: HelperBounds = {
    maxActive: MAX_ACTIVE,
    maxUnattended: MAX_UNATTENDED,
    isUnattended: origin === "helper",
  };

  const timeoutOf = ({
    timeout_minutes: minutes = DEFAULT_MINUTES,
  }: Pick<ToolSpawnSubagentInput, "timeout_minutes">): number =>
    Math.min(MAX_CALL_MS, minutes * 60_000 + turnTimeoutMs);

  const start = (
    taskId: string,
    { description, context: more, ...input }: ToolSpawnSubagentInput,
    context: ToolCallContext,
  ): Promise<void> => {
    const minutes = input.timeout_minutes ?? DEFAULT_MINUTES;
    const asked = {
      task_id: taskId,
      description,
      ...(more === undefined ? {} : { context: more }),
      session_id: sessionId,
      root_session_id: rootSessionId,
      timeout_minutes: minutes,
    };
    return startHelper(host, asked, { ...parts, caller, context, timeoutMs: timeoutOf(input) });
  };

  return defineTool(tools.spawnSubagent, async (input, context) => {
    if (input.description.trim() === "")
      return {
        content:
          "Error: no helper was started, as the description is blank. Say the whole task: the helper knows no more of it.",
        isError: true,
      };
    const taskId = hash("sha256", context.toolCallId, "hex").slice(0, 12); // a call that is made again finds its helper
    const text = `Helper ${taskId} has started. Its result comes as a message of this conversation. Go on, or end your turn.`;
    const startedAt = Date.now();
    const endsBy = startedAt + timeoutOf(input) + LATE_MS;
    const record: HelperRecord = {
      taskId,
      description: input.description.slice(0, 200).toWellFormed(),
      state: "waiting",
      startedAt,
      endsBy,
    };
    const refusal = await withMemory(() => records.add(caller, rootSessionId, record, bounds));
    if (refusal !== undefined)
      return { content: `Error: no helper was started, ${whyRefused(refusal)}`, isError: true };
    // Again, too, where it has a record: the process that wrote that may have died before it sent the request. A
    // request that comes twice runs once.
    const isWaiting = (await withMemory(() => records.get(caller, rootSessionId, taskId)))?.state === "waiting";
    if (isWaiting) await start(taskId, input, context);
    return { content: text, structured: { task_id: taskId } };
  });
}

function whyRefused(refusal: HelperRefusal): string {
  if ("active" in refusal) {
    const ids = refusal.active.map(({ taskId }) => taskId).join(", ");
    return `as ${refusal.active.length} work already: ${ids}. Wait for a result, or cancel one.`;
  }
  return `as ${refusal.unattended} were started in a row without a word of the user. Say what is done and what is left, and end your turn.`;
}

function cancelTool({ caller, rootSessionId }: TurnScope, records: HelperRecords): Tool {
  return defineTool(tools.cancelSubagent, async ({ task_id: taskId }) => {
    const before = await withMemory(() => records.get(caller, rootSessionId, taskId));
    if (before === undefined) {
      const ids = (await withMemory(() => records.list(caller, rootSessionId)))
        .map((record) => record.taskId)
        .join(", ");
      return {
        content: `Error: nothing was cancelled, as this conversation has no helper "${taskId}". It has ${ids || "none"}.`,
        isError: true,
      };
    }
    const wasRunning = isActive(before);
    const after = await withMemory(() =>
      records.change(caller, rootSessionId, taskId, { state: "cancelled", endedAt: Date.now() }),
    );
    const content =
      wasRunning && after?.state === "cancelled"
        ? `Helper ${taskId} is being stopped.`
        : `Helper ${taskId} had ended: ${after?.state ?? before.state}.`;
    return { content, structured: { task_id: taskId, was_running: wasRunning } };
  });
}

function listTool({ caller, rootSessionId }: TurnScope, records: HelperRecords): Tool {
  return defineTool(tools.listSubagents, async () => {
    const all = await withMemory(() => records.list(caller, rootSessionId));
    const subagents = all.map(({ taskId, description, state, startedAt, endedAt = Date.now(), progress }) => ({
      task_id: taskId,
      description,
      state,
      seconds: Math.max(0, Math.round((endedAt - startedAt) / 1_000)),
      ...(progress === undefined ? {} : { progress }),
    }));
    const lines = subagents.map(({ task_id: id, state, seconds, description, progress }) => {
      return `- ${id} (${state}, ${seconds} s): ${description}${progress === undefined ? "" : `. Last: ${progress}`}`;
    });
    const untrusted: { readonly trust?: ContentTrust } = all.some(({ isUntrusted }) => isUntrusted)
      ? { trust: saidBy("helpers") }
      : {};
    return {
      content: lines.length === 0 ? "This conversation has no helpers." : lines.join("\n"),
      structured: { subagents },
      ...untrusted,
    };
  });
}

function progressTool(scope: TurnScope, records: HelperRecords, messages: Pick<HelperMessages, "progress">): Tool {
  const { caller, sessionId, rootSessionId } = scope;
  const taskId = sessionId.slice(helperSession("").length);
  return defineTool(tools.reportProgress, async ({ message }) => {
    await withMemory(() =>
      records.change(caller, rootSessionId, taskId, { progress: message, isUntrusted: scope.hasReadUntrusted }),
    );
    await messages.progress({ taskId, sessionId: rootSessionId }, message);
    return { content: "Told.", structured: {} };
  });
}

import { hash } from "node:crypto";
import type { AgentHost, AgentPlugin, Aside, TurnScope } from "@rockbot/agent";
import { type ContentTrust, type ToolSpawnSubagentInput, tools } from "@rockbot/contracts";
import { withMemory } from "@rockbot/memory";
import { defineTool, type Tool, type ToolCallContext } from "@rockbot/tools";
import { type HelperMessages, helperSession } from "./helper-messages.ts";
import { type HelperBounds, type HelperRecord, type HelperRecords, type HelperRefusal, isActive } from "./helper-records.ts";

export interface HelpersPluginOptions {
  readonly records: HelperRecords;
  readonly messages: Pick<HelperMessages, "progress">;
  /** How long the session's turn may take that is told the result. */
  readonly turnTimeoutMs: number;
}

/** Of a family, at once. */
const MAX_ACTIVE = 3;
/** In a row, by turns that no user has begun: a model that answers each helper's end with new helpers would go on for thousands of turns. */
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
 * The tools of a conversation for its helpers, if its caller may use `agent__helper`. A session that another has started has none: nobody may be there any
 * more to read the result. A helper's session can report its progress.
 */
export const helpers = ({ records, messages, turnTimeoutMs }: HelpersPluginOptions): AgentPlugin => ({
  name: "helpers",
  async start(host) {
    return {
      tools(scope) {
        const isAllowed = scope.sessionId === scope.rootSessionId && host.caller.toolsOf(scope.caller).some(({ name }) => name === tools.agentHelper.name);
        const own = isAllowed ? [spawnTool(host, scope, { records, turnTimeoutMs }), cancelTool(scope, records), listTool(scope, records)] : [];
        return scope.origin === "helper" && HELPER_SESSION.test(scope.sessionId) ? [...own, progressTool(scope, records, messages)] : own;
      },
      aside: (scope, message) => resultAside(scope, message, records),
    };
  },
});

/** Beside the message that a helper has ended stands its result. Of what strangers wrote it may be a part, and is fenced then. */
async function resultAside({ caller, rootSessionId, origin }: TurnScope, message: string, records: HelperRecords): Promise<Aside | undefined> {
  const taskId = origin === "helper" ? ENDED.exec(message)?.[1] : undefined;
  const record = taskId === undefined ? undefined : await records.get(caller, rootSessionId, taskId);
  if (record?.result === undefined) return undefined;
  return { text: `The result of helper ${taskId}:\n${record.result || "(no text)"}`, isUntrusted: record.isUntrusted === true };
}

function spawnTool(
  { caller: calls, log }: AgentHost,
  scope: TurnScope,
  { records, turnTimeoutMs }: Pick<HelpersPluginOptions, "records" | "turnTimeoutMs">,
): Tool {
  const { caller, sessionId, rootSessionId, origin } = scope;
  const bounds: HelperBounds = { maxActive: MAX_ACTIVE, maxUnattended: MAX_UNATTENDED, isUnattended: origin === "helper" };

  const timeoutOf = ({ timeout_minutes: minutes = DEFAULT_MINUTES }: Pick<ToolSpawnSubagentInput, "timeout_minutes">): number =>
    Math.min(MAX_CALL_MS, minutes * 60_000 + turnTimeoutMs);

  /** Resolves once the call is on its way. What becomes of it then is in its record. @throws {ToolError} if it was refused before */
  async function start(
    taskId: string,
    { description, context: more, timeout_minutes: minutes = DEFAULT_MINUTES }: ToolSpawnSubagentInput,
    context: ToolCallContext,
  ) {
    const sent = Promise.withResolvers<void>();
    const input = { task_id: taskId, description, context: more, session_id: sessionId, root_session_id: rootSessionId, timeout_minutes: minutes };
    const timeoutMs = timeoutOf({ timeout_minutes: minutes });
    // The deadline and the cancellation of the turn do not hold for the helper, which goes on beside it. How many calls led here, and what they read, does.
    const parent = { ...context, signal: new AbortController().signal, deadline: performance.now() + timeoutMs };
    const toolCallId = hash("sha256", JSON.stringify(["helper", caller, taskId]), "hex").slice(0, 32);
    calls
      .call(tools.agentHelper.name, input, { toolCallId, onBehalfOf: caller, parent, timeoutMs, onSent: sent.resolve })
      .catch(async (error: unknown) => {
        sent.reject(error);
        log.warn({ taskId, reason: String(error) }, "a helper has failed");
        await records.change(caller, rootSessionId, taskId, { state: "failed", endedAt: Date.now(), progress: String(error).slice(0, 500) });
      })
      .catch((error: unknown) => log.warn({ taskId, reason: String(error) }, "could not note the end of a helper"));
    await sent.promise;
  }

  return defineTool(tools.spawnSubagent, async (input, context) => {
    if (input.description.trim() === "")
      return { content: "Error: no helper was started, as the description is blank. Say the whole task: the helper knows no more of it.", isError: true };
    const taskId = hash("sha256", context.toolCallId, "hex").slice(0, 12); // a call that is made again finds its helper
    const text = `Helper ${taskId} has started. Its result comes as a message of this conversation. Go on, or end your turn.`;
    const startedAt = Date.now();
    const endsBy = startedAt + timeoutOf(input) + LATE_MS;
    const record: HelperRecord = { taskId, description: input.description.slice(0, 200).toWellFormed(), state: "waiting", startedAt, endsBy };
    const refusal = await withMemory(() => records.add(caller, rootSessionId, record, bounds));
    if (refusal !== undefined) return { content: `Error: no helper was started, ${whyRefused(refusal)}`, isError: true };
    // Again, too, where it has a record: the process that wrote that may have died before it sent the request. A request that comes twice runs once.
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
      const ids = (await withMemory(() => records.list(caller, rootSessionId))).map((record) => record.taskId).join(", ");
      return { content: `Error: nothing was cancelled, as this conversation has no helper "${taskId}". It has ${ids || "none"}.`, isError: true };
    }
    const wasRunning = isActive(before);
    const after = await withMemory(() => records.change(caller, rootSessionId, taskId, { state: "cancelled", endedAt: Date.now() }));
    const content =
      wasRunning && after?.state === "cancelled" ? `Helper ${taskId} is being stopped.` : `Helper ${taskId} had ended: ${after?.state ?? before.state}.`;
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
    const untrusted: { readonly trust?: ContentTrust } = all.some(({ isUntrusted }) => isUntrusted) ? { trust: { level: "untrusted", origin: "helpers" } } : {};
    return { content: lines.length === 0 ? "This conversation has no helpers." : lines.join("\n"), structured: { subagents }, ...untrusted };
  });
}

function progressTool(scope: TurnScope, records: HelperRecords, messages: Pick<HelperMessages, "progress">): Tool {
  const { caller, sessionId, rootSessionId } = scope;
  const taskId = sessionId.slice(helperSession("").length);
  return defineTool(tools.reportProgress, async ({ message }) => {
    await withMemory(() => records.change(caller, rootSessionId, taskId, { progress: message, isUntrusted: scope.hasReadUntrusted }));
    await messages.progress({ taskId, sessionId: rootSessionId }, message);
    return { content: "Told.", structured: {} };
  });
}

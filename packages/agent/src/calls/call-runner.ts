import { trace } from "@opentelemetry/api";
import { createSemaphore, type Semaphore } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import {
  Keep,
  tools as ownTools,
  ToolError,
  ToolErrorCode,
  type ToolInvokeResponse,
  type ToolOutput,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { ProgressUpdate, ToolCaller } from "@rockbot/tools";
import type { TurnEvents } from "../store/turn-events.ts";
import type { StoredResult } from "../store/turn-store.ts";
import { type AwaitEnd, type AwaitedCall, noticeOf, waitsNotice } from "../words/awaited-call.ts";
import { storedError, storedResponse } from "./stored-result.ts";
import { CHILD_SOURCE, type ParentCall, type TurnCall, type TurnTools } from "./turn-tools.ts";

export interface CallRunnerOptions {
  /** Calls that run at once, of one turn. */
  readonly maxParallel: number;
  /** How long one may take. */
  readonly timeoutMs: number;
  /** The agent's name, in the audit log. */
  readonly name: string;
  /**
   * Where a line is written for each call of an agent and each handing over, which no service sees.
   * @default nowhere
   */
  readonly audit: Pick<AuditLog, "write"> | undefined;
  readonly policy: PolicyHolder | undefined;
  /** Without it no call outlives its turn. */
  readonly awaitEnd: AwaitEnd | undefined;
  readonly withdraw: ToolCaller["withdraw"];
  readonly log: Logger;
}

/** What a call needs of its turn. */
export interface CallTurn {
  readonly tools: TurnTools;
  readonly events: TurnEvents;
  readonly parent: ParentCall;
  /** The session that hears the end of a call which outlives the turn. @default none: it ends with the turn */
  readonly toldIn?: Pick<AwaitedCall, "sessionId" | "agent" | "origin"> | undefined;
}

const HAND_OFF = ownTools.routerHandoffTo.name;
/** An event has so many characters of arguments. */
const MAX_EVENT_ARGUMENTS = 2_000;

/** Runs the calls of turns. A call that runs in this process already is joined, not made again. */
export class CallRunner {
  readonly #options: CallRunnerOptions;
  readonly #running = new Map<string, Promise<StoredResult>>();

  constructor(options: CallRunnerOptions) {
    this.#options = options;
  }

  /** Bounds the calls of one answer. */
  places(): Semaphore {
    return createSemaphore(this.#options.maxParallel);
  }

  /** @throws only what says that this process is to stop, or that its turn is cancelled */
  run(call: TurnCall, turn: CallTurn): Promise<StoredResult> {
    const known = this.#running.get(call.callId);
    if (known !== undefined) return known;
    const running = this.#run(call, turn).finally(() => this.#running.delete(call.callId));
    running.catch(() => {}); // its turn may have left
    this.#running.set(call.callId, running);
    return running;
  }

  async #run(call: TurnCall, turn: CallTurn): Promise<StoredResult> {
    const waits: { notice?: string } = {};
    try {
      return storedResponse(await this.respond(call, turn, { isForModel: true, waits }));
    } catch (error) {
      turn.parent.signal.throwIfAborted();
      const toolError = toolErrorOf(error);
      const { toolCallId, isKept } = toolError.details ?? {};
      if (toolError.code !== ToolErrorCode.Pending || isKept !== true || turn.toldIn === undefined)
        return storedError(toolError);
      const callId = String(toolCallId);
      const { notice = waitsNotice(callId) } = waits;
      return this.#leave({ ...turn.tools.made(call), callId }, turn, { ...turn.toldIn, notice });
    }
  }

  /** Leaves a call to its record. A session hears its end, or it is withdrawn. */
  async #leave(
    { name: tool, arguments: args, callId }: TurnCall,
    { tools, parent }: CallTurn,
    told: Pick<AwaitedCall, "sessionId" | "agent" | "origin" | "notice">,
  ): Promise<StoredResult> {
    const { awaitEnd, withdraw, log } = this.#options;
    const caller = tools.effectiveCaller;
    const made = { caller, callId, tool, arguments: args, hasReadUntrusted: parent.hasReadUntrusted === true };
    try {
      await awaitEnd?.({ ...told, ...made, grant: tools.grantOf(parent) });
      return { content: waitsWords(callId), isError: false, isUntrusted: false };
    } catch (error) {
      parent.signal.throwIfAborted();
      log.warn({ toolCallId: callId, tool, reason: String(error) }, "a call that waits for a person is withdrawn");
      await withdraw({ service: tools.get(tool)?.source ?? "", caller, toolCallId: callId }).catch(() => {}); // nobody is told then
      const { message } = toolErrorOf(error);
      const content = `cancelled: "${tool}" waited for a person, and was withdrawn, as its end could not be brought here: ${message}`;
      return { content, isError: true, isUntrusted: false };
    }
  }

  /**
   * Makes a call, and tells of it.
   * @throws {ToolError} also if the turn was cut off before, and it is not known whether it has made the call then
   * @throws what says that this process is to stop, or that its turn is cancelled
   */
  async respond(
    call: TurnCall,
    { tools, events, parent, toldIn }: CallTurn,
    { isForModel, waits }: { readonly isForModel: boolean; readonly waits?: { notice?: string } },
  ): Promise<ToolInvokeResponse> {
    const { timeoutMs, awaitEnd, log } = this.#options;
    const keep = toldIn === undefined || awaitEnd === undefined ? undefined : Keep.IfParked;
    const { callId: toolCallId, name: toolName } = call;
    const startedAt = performance.now();
    events.emit({
      kind: "tool_started",
      toolCallId,
      toolName,
      arguments: call.arguments.slice(0, MAX_EVENT_ARGUMENTS),
    });
    const onProgress = ({ progress, total, message }: ProgressUpdate): void => {
      const told = { progress: progress ?? null, total: total ?? null, message: message ?? null };
      events.emit({ kind: "tool_progress", toolCallId, toolName, ...told });
      const notice = noticeOf(message, toolCallId);
      if (notice === undefined) return;
      events.emit({ kind: "notice", text: notice });
      if (waits !== undefined) waits.notice = notice;
    };
    const namespace = /^(.+?)__/.exec(toolName)?.[1] ?? tools.get(toolName)?.source ?? null;
    const charactersIn = call.arguments.length;
    log.debug(
      { toolCallId, toolName, namespace, charactersIn, arguments: call.arguments.slice(0, MAX_EVENT_ARGUMENTS) },
      "tool request",
    );
    const ended = async (
      status: string,
      isError: boolean,
      message: string | null,
      charactersOut: number,
      toolOutput?: ToolOutput,
    ): Promise<void> => {
      await this.#audit(call, { tools, parent }, { status, startedAt });
      const facts = {
        status,
        durationMs: Math.round(performance.now() - startedAt),
        charactersIn,
        charactersOut,
        namespace,
      };
      events.emit({
        kind: "tool_finished",
        toolCallId,
        toolName,
        isError,
        message,
        ...facts,
        ...(toolOutput === undefined ? {} : { toolOutput }),
      });
      log.debug({ toolCallId, toolName, ...facts, ...(isError ? { error: message } : {}) }, "tool response");
    };
    try {
      const response = await tools.run(call, { parent, timeoutMs, onProgress, isForModel, keep });
      const { content, toolOutput } = storedResponse(response);
      if (response.isError)
        await ended("error", true, content.slice(0, MAX_EVENT_ARGUMENTS), content.length, toolOutput);
      else await ended("ok", false, null, content.length, toolOutput);
      return response;
    } catch (error) {
      parent.signal.throwIfAborted();
      const found = toolErrorOf(error);
      const toolError = parent.mayHaveBegun && !tools.get(toolName)?.readOnly ? orUnknown(toolName, found) : found;
      if (found !== error)
        log.warn({ toolCallId, toolName, error: String(error) }, "a call failed in an unexpected way");
      await ended(toolError.code, true, toolError.message, toolError.message.length);
      throw toolError;
    }
  }

  /**
   * What a service writes of its calls, of those that no service sees. Resolves once the line is there, as far as it
   * can be.
   */
  async #audit(
    { callId: toolCallId, name: tool, arguments: args }: TurnCall,
    { tools, parent }: Pick<CallTurn, "tools" | "parent">,
    { status, startedAt }: { readonly status: string; readonly startedAt: number },
  ): Promise<void> {
    const { name: service, audit, policy } = this.#options;
    if (audit === undefined || (tools.get(tool)?.source !== CHILD_SOURCE && tool !== HAND_OFF)) return;
    await audit.write({
      service,
      caller: tools.effectiveCaller,
      tool,
      toolCallId,
      arguments: args,
      decision: status === ToolErrorCode.Denied ? "denied" : "allowed",
      policy: policy?.current().revision,
      hasReadUntrusted: parent.hasReadUntrusted || undefined,
      outcome: status === "error" ? "tool_error" : status,
      durationMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
      traceId: trace.getActiveSpan()?.spanContext().traceId,
    });
  }
}

const waitsWords = (callId: string): string =>
  `pending: the call waits for a person, as ${JSON.stringify(callId)}. Its end comes by itself, and begins a turn of this conversation. Do not make the call again. Go on with what does not need it, or say what waits and end your turn.`;

/** An earlier run of the turn may have made the call. If nobody can be asked now, it is not known what became of it. */
function orUnknown(name: string, error: ToolError): ToolError {
  const { code, message: why } = error;
  if (code !== ToolErrorCode.Unavailable && code !== ToolErrorCode.ToolNotFound) return error;
  const message = `The call of "${name}" may have run before the agent was restarted, and no service can say so now. Find out before you call it again. (${code}: ${why})`;
  return new ToolError(ToolErrorCode.OutcomeUnknown, message, { cause: error });
}

const toolErrorOf = (error: unknown): ToolError =>
  error instanceof ToolError ? error : new ToolError(ToolErrorCode.ExecutionFailed, String(error), { cause: error });

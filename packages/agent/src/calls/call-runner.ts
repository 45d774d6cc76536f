import { trace } from "@opentelemetry/api";
import { createSemaphore, type Semaphore } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import {
  tools as ownTools,
  ToolError,
  ToolErrorCode,
  type ToolInvokeResponse,
  type ToolOutput,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { ProgressUpdate } from "@rockbot/tools";
import type { TurnEvents } from "../store/turn-events.ts";
import type { StoredResult } from "../store/turn-store.ts";
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
  readonly log: Logger;
}

/** What a call needs of its turn. */
export interface CallTurn {
  readonly tools: TurnTools;
  readonly events: TurnEvents;
  readonly parent: ParentCall;
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
    try {
      return storedResponse(await this.respond(call, turn, { isForModel: true }));
    } catch (error) {
      turn.parent.signal.throwIfAborted();
      return storedError(toolErrorOf(error));
    }
  }

  /**
   * Makes a call, and tells of it.
   * @throws {ToolError} also if the turn was cut off before, and it is not known whether it has made the call then
   * @throws what says that this process is to stop, or that its turn is cancelled
   */
  async respond(
    call: TurnCall,
    { tools, events, parent }: CallTurn,
    { isForModel }: { readonly isForModel: boolean },
  ): Promise<ToolInvokeResponse> {
    const { timeoutMs, log } = this.#options;
    const { callId: toolCallId, name: toolName } = call;
    const startedAt = performance.now();
    events.emit({
      kind: "tool_started",
      toolCallId,
      toolName,
      arguments: call.arguments.slice(0, MAX_EVENT_ARGUMENTS),
    });
    const onProgress = ({ progress, total, message }: ProgressUpdate): void =>
      events.emit({
        kind: "tool_progress",
        toolCallId,
        toolName,
        progress: progress ?? null,
        total: total ?? null,
        message: message ?? null,
      });
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
      const response = await tools.run(call, { parent, timeoutMs, onProgress, isForModel });
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

/** An earlier run of the turn may have made the call. If nobody can be asked now, it is not known what became of it. */
function orUnknown(name: string, error: ToolError): ToolError {
  const { code, message: why } = error;
  if (code !== ToolErrorCode.Unavailable && code !== ToolErrorCode.ToolNotFound) return error;
  const message = `The call of "${name}" may have run before the agent was restarted, and no service can say so now. Find out before you call it again. (${code}: ${why})`;
  return new ToolError(ToolErrorCode.OutcomeUnknown, message, { cause: error });
}

const toolErrorOf = (error: unknown): ToolError =>
  error instanceof ToolError ? error : new ToolError(ToolErrorCode.ExecutionFailed, String(error), { cause: error });

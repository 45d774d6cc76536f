import {
  type Bus,
  BusClosedError,
  BusUnavailableError,
  HEALED_WITHIN_MS,
  MessageTooLargeError,
  QueueFullError,
  RequestTimeoutError,
  UnroutableError,
} from "@rockbot/bus";
import {
  createEnvelope,
  encodeMessage,
  Header,
  MAX_REQUEST_BYTES,
  messages,
  ToolError,
  ToolErrorCode,
  type ToolInvokeResponse,
  timeoutError,
} from "@rockbot/contracts";
import { CallState } from "@rockbot/records/journal";
import type { ToolExecutor } from "../define/tool-executor.ts";
import type { FoundTool, ToolDirectory } from "../discover/tool-directory.ts";
import { inTime } from "../layers/deadline.ts";
import type { Identity } from "../messages/identity.ts";
import { answerOf, misaddressed } from "../messages/reply.ts";
import { type Station, scriptResultTopic } from "./caller-station.ts";

/** Its answers have a topic of their own. */
const SCRIPT_TOPIC = "script.invoke";
/** When a queue or a broker that is full may have room again: a guess, so that callers do not come back at once. */
const RETRY_AFTER_MS = 1_000;
/** A cancel that nobody has taken by then finds no call to cancel. */
const CANCEL_TTL_MS = 60_000;

export interface RemoteExecutorOptions {
  readonly bus: Bus;
  /** Of the name that the caller has now. */
  readonly station: () => Pick<Station, "address" | "requester" | "progress">;
  readonly directory: ToolDirectory;
  readonly identity: Identity;
  readonly source: string;
}

/**
 * Runs a tool that is served on the bus: publishes the call, waits for the answer, and cancels the call when it gives up. Ends by the deadline,
 * and when it is aborted, also if the bus and the service are gone.
 */
export function remoteExecutor(tool: FoundTool, { bus, station, directory, identity, source }: RemoteExecutorOptions): ToolExecutor {
  const self = identity.callerNamed(source);

  function unavailable(cause?: unknown): ToolError {
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${tool.name}" cannot be called now: the service "${tool.service}" that offers it is not running. Try again later.`,
      { cause },
    );
  }

  function overloaded(why: string, cause?: unknown): ToolError {
    return new ToolError(ToolErrorCode.Overloaded, `"${tool.name}" cannot be called now: ${why}. Try again later.`, { cause, retryAfterMs: RETRY_AFTER_MS });
  }

  /** Headers that say for whom the call is made, if that is not whom the service sees anyway. */
  const sayFor = (caller: string): Record<string, string> => (caller === self ? {} : { [Header.OnBehalfOf]: caller });

  function cancel(toolCallId: string, caller: string, reason: string): void {
    const body = encodeMessage("ToolCancel", { toolCallId, reason });
    const headers = sayFor(caller);
    const message = createEnvelope({ topic: `tool.cancel.${tool.service}`, type: messages.ToolCancel.type, source, ttlMs: CANCEL_TTL_MS, body, headers });
    bus.publish(message).catch(() => {}); // the deadline ends the call anyway
  }

  return {
    async execute(request, { signal, deadline, caller, progress, depth = 0, notes, onSent }) {
      const body = encodeMessage("ToolInvokeRequest", request);
      signal.throwIfAborted();
      if (body.byteLength > MAX_REQUEST_BYTES) {
        throw new ToolError(
          ToolErrorCode.TooLarge,
          `Cannot call "${tool.name}": the request has ${body.byteLength} bytes, at most ${MAX_REQUEST_BYTES} are carried`,
        );
      }
      if (bus.isBlocked) throw overloaded("the message bus is short of memory or disk and takes no messages");
      const isServed = directory.isServed(tool);
      const late = () => timeoutError(`"${tool.name}"`, { mayHaveRun: false });
      let leftMs = deadline - performance.now();
      if (leftMs > 0 && typeof isServed !== "boolean") {
        if (!(await inTime(isServed, { signal, leftMs, late }))) throw unavailable();
        leftMs = deadline - performance.now();
      } else if (isServed === false) throw unavailable();
      if (leftMs <= 0) throw late();
      const timeoutMs = Math.max(1, Math.floor(leftMs));
      const { toolCallId } = request;
      let answer: ToolInvokeResponse | ToolError | undefined;
      let isMisaddressed = false;
      let updates = 0;
      const { address, requester, progress: heard } = station();
      const headers = sayFor(caller);
      if (depth > 0) headers[Header.Depth] = String(depth);
      if (progress !== ignoreProgress) headers[Header.Progress] = "1";
      try {
        const message = createEnvelope({
          topic: tool.topic,
          type: messages.ToolInvokeRequest.type,
          source,
          body,
          replyTo: tool.topic === SCRIPT_TOPIC ? scriptResultTopic(address) : undefined,
          messageId: toolCallId,
          correlationId: toolCallId,
          headers,
        });
        onSent?.();
        await requester.request(message, {
          timeoutMs,
          offerAgainMs: HEALED_WITHIN_MS, // the service is there: only what leads to it is gone
          signal,
          onConfirmed: () => notes?.note(CallState.Accepted),
          accept(reply) {
            if (!identity.isFrom(tool.service, reply, "result")) return false;
            answer = answerOf(reply, request);
            if (answer === undefined) isMisaddressed = true;
            else notes?.decidedBy(reply.headers[Header.Policy]);
            updates = Number(reply.headers[Header.Progress] ?? 0);
            return answer !== undefined;
          },
        });
      } catch (error) {
        if (signal.aborted || error instanceof RequestTimeoutError)
          cancel(toolCallId, caller, signal.aborted ? "the caller gave it up" : "its deadline is over");
        throw isMisaddressed && error instanceof RequestTimeoutError ? misaddressed(tool.name, error) : toCallError(error);
      }
      directory.sawAlive(tool);
      if (updates > 0) await heard.heardAll(toolCallId, updates);
      if (answer instanceof ToolError) throw answer;
      return answer as ToolInvokeResponse;
    },
  };

  function toCallError(error: unknown): unknown {
    if (error instanceof RequestTimeoutError) {
      const isRepeatSafe = tool.readOnly || tool.idempotent;
      return timeoutError(`"${tool.name}"`, { mayHaveRun: true, isRepeatSafe, cause: error });
    }
    if (error instanceof UnroutableError) return unavailable(error);
    if (error instanceof BusClosedError) {
      return new ToolError(ToolErrorCode.Unavailable, `"${tool.name}" cannot be called: this process has closed its bus`, { cause: error, isRetryable: false });
    }
    if (error instanceof BusUnavailableError)
      return new ToolError(ToolErrorCode.Unavailable, `"${tool.name}" cannot be called now: the message bus does not answer. Try again later.`, {
        cause: error,
      });
    if (error instanceof QueueFullError) return overloaded(`too many calls wait for "${tool.service}"`, error);
    if (error instanceof MessageTooLargeError) return new ToolError(ToolErrorCode.TooLarge, error.message, { cause: error });
    return error;
  }
}

/** What a caller who wants no progress passes. */
export const ignoreProgress = (): void => {};

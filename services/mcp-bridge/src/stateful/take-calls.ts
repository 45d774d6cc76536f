import { RecentMap, within } from "@rockbot/base";
import { type Bus, type Logger, MAX_BODY_BYTES } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  Header,
  MCP_BRIDGE,
  mcpTopics,
  messages,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  textResponse,
  timeoutError,
  waitsMs,
} from "@rockbot/contracts";
import type { McpCallOptions, McpCallResult } from "@rockbot/mcp";
import { encodeReply, type Identity, MAX_TIMEOUT_MS } from "@rockbot/tools";
import { NOT_TAKEN, NotTakenError } from "./hand-over-error.ts";
import { progressRelay } from "./progress-relay.ts";

export interface TakeCallsOptions {
  /** The name of this replica. */
  readonly instance: string;
  readonly identity: Pick<Identity, "isFrom">;
  /** Calls a tool of a server that this replica has. @throws {NotTakenError} if it does not have it */
  readonly call: (
    server: string,
    tool: string,
    args: Record<string, unknown>,
    options: McpCallOptions,
  ) => Promise<McpCallResult>;
  /** How long disposal waits for the calls that run. */
  readonly drainMs: number;
  readonly log: Logger;
}

/** At least as many calls are remembered, so that none that the bus brings twice is made twice. */
const MAX_REMEMBERED = 20_000;
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Makes the calls that other replicas hand over, each once, and answers them. Disposal takes no more, and waits for
 * those that run.
 */
// Long because: its handlers share what is remembered of calls
export async function takeCalls(
  bus: Bus,
  { instance, identity, call, drainMs, log }: TakeCallsOptions,
): Promise<AsyncDisposable> {
  const seen = new RecentMap<string, true>(MAX_REMEMBERED);
  const running = new Map<string, { readonly cancel: AbortController; readonly done: Promise<void> }>();

  function take(message: Envelope): void {
    const request = decodeMessage("ToolInvokeRequest", message.body);
    if (!request.ok || message.replyTo === undefined || seen.get(request.value.toolCallId)) return;
    const { toolCallId } = request.value;
    seen.set(toolCallId, true);
    const cancel = new AbortController();
    const done = run(message, request.value, message.replyTo, cancel.signal)
      .catch((error: unknown) => log.warn({ error: String(error) }, "could not send the answer to a forwarded call"))
      .finally(() => running.delete(toolCallId));
    running.set(toolCallId, { cancel, done });
  }

  async function run(
    message: Envelope,
    request: ToolInvokeRequest,
    replyTo: string,
    cancelled: AbortSignal,
  ): Promise<void> {
    const timeoutMs = Math.min(waitsMs(message) ?? MAX_TIMEOUT_MS, MAX_TIMEOUT_MS);
    const signal = AbortSignal.any([cancelled, AbortSignal.timeout(timeoutMs)]);
    const send = ({ type, body }: { readonly type: string; readonly body: Uint8Array }): Promise<void> =>
      bus.publish(
        createEnvelope({
          topic: replyTo,
          type,
          source: MCP_BRIDGE,
          correlationId: request.toolCallId,
          ttlMs: ANSWER_TIMEOUT_MS,
          body,
        }),
        {
          timeoutMs: ANSWER_TIMEOUT_MS,
        },
      );
    const progress = progressRelay(
      request,
      (body) => void send({ type: messages.ToolProgress.type, body }).catch(() => {}),
    ); // may be lost
    try {
      const args = JSON.parse(request.arguments ?? "{}") as Record<string, unknown>;
      const { content, structured, isError } = await call(
        message.headers[Header.McpServer] ?? "",
        request.toolName,
        args,
        {
          timeoutMs,
          signal,
          onProgress: progress.report,
        },
      );
      progress.end();
      const response = textResponse(request, content, {
        isError,
        ...(structured === undefined ? {} : { structured: { ...structured } }),
      });
      const encoded = encodeReply(request, response);
      if (encoded.body.byteLength > MAX_BODY_BYTES)
        throw new ToolError(
          ToolErrorCode.TooLarge,
          `"${request.toolName}" gave a result of ${encoded.body.byteLength} bytes. Ask for less.`,
        );
      await send(encoded);
    } catch (error) {
      progress.end();
      if (cancelled.aborted) return; // nobody waits
      await send(encodeReply(request, toolErrorOf(error)));
    }
  }

  const subscription = await bus.subscribe(
    { name: `${MCP_BRIDGE}.owner`, topics: [mcpTopics.owner(instance)], kind: "copy" },
    async (message) => {
      if (!identity.isFrom(MCP_BRIDGE, message, "result")) return;
      if (message.type === messages.ToolInvokeRequest.type) take(message);
      const cancel = message.type === messages.ToolCancel.type ? decodeMessage("ToolCancel", message.body) : undefined;
      if (cancel?.ok) running.get(cancel.value.toolCallId)?.cancel.abort(new Error("cancelled"));
    },
  );
  return {
    async [Symbol.asyncDispose]() {
      await subscription[Symbol.asyncDispose]();
      const all = Promise.all([...running.values()].map(({ done }) => done));
      await within(drainMs, all, () => new Error("calls are still running")).catch(() => {});
      for (const { cancel } of running.values()) cancel.abort(new Error("this replica stops"));
    },
  };
}

function toolErrorOf(error: unknown): ToolError {
  if (error instanceof NotTakenError) {
    return new ToolError(ToolErrorCode.Unavailable, "The server is with another replica.", {
      details: { mayHaveRun: false, reason: NOT_TAKEN },
    });
  }
  if (error instanceof ToolError) return error;
  if (error instanceof Error && error.name === "TimeoutError") return timeoutError("The call", { mayHaveRun: true });
  return new ToolError(ToolErrorCode.ExecutionFailed, "The call failed.", { details: { mayHaveRun: true } });
}

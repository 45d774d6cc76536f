import { type Bus, UnroutableError } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  MCP_BRIDGE,
  mcpCallEnvelope,
  mcpTopics,
  messages,
  ToolError,
  ToolErrorCode,
  timeoutError,
} from "@rockbot/contracts";
import type { McpCallOptions, McpCallResult } from "@rockbot/mcp";
import { answerOf, type Identity } from "@rockbot/tools";
import { NOT_TAKEN, NotTakenError, OWNER_LOST } from "./hand-over-error.ts";

export interface HandOverCallsOptions {
  /** The name of this replica. */
  readonly instance: string;
  readonly identity: Pick<Identity, "isFrom">;
}

/** A call for the replica that has its server. */
export interface HandedOverCall {
  /** The name of that replica. */
  readonly instance: string;
  readonly server: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Aborts once the owner has lost the server, or is dead. */
  readonly ownerGone: AbortSignal;
}

/** Has calls made by the replica that has their server. */
export interface HandOverCalls extends AsyncDisposable {
  /**
   * Hands a call over, once. Settles once: at the latest with its signal, its time, or the owner's end.
   * @throws {NotTakenError} if it has certainly not been made
   * @throws {ToolError} as the owner says, `outcome_unknown` if the owner was lost over it; the signal's reason if that
   * aborts
   */
  call(call: HandedOverCall, options: McpCallOptions): Promise<McpCallResult>;
}

interface Waiting {
  readonly request: { readonly toolCallId: string; readonly toolName: string };
  readonly onProgress: McpCallOptions["onProgress"];
  readonly resolve: (result: McpCallResult) => void;
  readonly reject: (reason: unknown) => void;
}

/** Resolves once answers would be heard. Disposal fails the calls that are out. */
export async function handOverCalls(bus: Bus, { instance, identity }: HandOverCallsOptions): Promise<HandOverCalls> {
  const replyTo = mcpTopics.handedOver(instance);
  const waiting = new Map<string, Waiting>();
  const subscription = await bus.subscribe(
    { name: `${MCP_BRIDGE}.handed-over`, topics: [replyTo], kind: "copy", concurrency: 512 },
    async (message) => {
      const call = waiting.get(message.correlationId ?? "");
      if (call !== undefined && identity.isFrom(MCP_BRIDGE, message, "result")) hear(message, call);
    },
  );

  function cancel(to: string, id: string): void {
    const body = encodeMessage("ToolCancel", { toolCallId: id, reason: "the caller gave it up" });
    bus
      .publish(createEnvelope({ topic: mcpTopics.owner(to), type: messages.ToolCancel.type, source: MCP_BRIDGE, body }))
      .catch(() => {}); // its time ends it anyway
  }

  async function publish(envelope: Envelope, { server, tool }: HandedOverCall, timeoutMs: number): Promise<void> {
    let sent = 0;
    const isWanted = (): boolean => waiting.has(envelope.messageId) && ++sent > 0;
    try {
      await bus.publish(envelope, { mandatory: true, timeoutMs, isWanted });
    } catch (error) {
      // Sent more than once, it may have come the first time.
      if (sent === 0 || (sent === 1 && error instanceof UnroutableError))
        throw new NotTakenError("the owner has no queue", { cause: error });
      throw lost(server, tool, error);
    }
  }

  return {
    call(call, { timeoutMs: givenMs, signal, onProgress }) {
      const { instance: to, ownerGone, server, tool, args } = call;
      const timeoutMs = Math.max(1, Math.ceil(givenMs));
      const envelope = mcpCallEnvelope({
        topic: mcpTopics.owner(to),
        source: MCP_BRIDGE,
        replyTo,
        server,
        tool,
        args,
        timeoutMs,
      });
      const { messageId: id } = envelope;
      const { promise, resolve, reject } = Promise.withResolvers<McpCallResult>();
      waiting.set(id, { request: { toolCallId: id, toolName: tool }, onProgress, resolve, reject });
      const onAbort = (): void => {
        cancel(to, id);
        reject(signal.aborted ? signal.reason : lost(server, tool, ownerGone.reason));
      };
      const late = setTimeout(() => reject(tooLate(server, tool)), timeoutMs);
      for (const ends of [signal, ownerGone]) ends.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted || ownerGone.aborted)
        reject(signal.aborted ? signal.reason : new NotTakenError("the owner is gone"));
      else publish(envelope, call, timeoutMs).catch(reject);
      return promise.finally(() => {
        clearTimeout(late);
        waiting.delete(id);
        for (const ends of [signal, ownerGone]) ends.removeEventListener("abort", onAbort);
      });
    },
    async [Symbol.asyncDispose]() {
      for (const { reject } of waiting.values()) reject(lost("it", "the call", new Error("this replica stops")));
      await subscription[Symbol.asyncDispose]();
    },
  };
}

function hear(message: Envelope, { request, onProgress, resolve, reject }: Waiting): void {
  if (message.type === messages.ToolProgress.type) {
    const update = decodeMessage("ToolProgress", message.body);
    if (update.ok)
      onProgress({
        progress: update.value.progress ?? 0,
        total: update.value.total ?? undefined,
        message: update.value.message ?? undefined,
      });
    return;
  }
  const answer = answerOf(message, request);
  if (answer instanceof ToolError)
    reject(answer.details?.["reason"] === NOT_TAKEN ? new NotTakenError(answer.message) : answer);
  else if (answer !== undefined) {
    const { content, structured, isError } = answer;
    resolve({ content: content ?? null, isError: isError === true, ...(structured == null ? {} : { structured }) });
  }
}

function lost(server: string, tool: string, cause: unknown): ToolError {
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `The replica of the bridge that has the MCP server "${server}" was lost over "${tool}". It may have had effects: find out before you call it again.`,
    { cause, details: { mayHaveRun: true, reason: OWNER_LOST } },
  );
}

const tooLate = (server: string, tool: string): ToolError =>
  timeoutError(`"${tool}" of the MCP server "${server}"`, { mayHaveRun: true });

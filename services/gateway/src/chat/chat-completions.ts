import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { pause } from "@rockbot/base";
import { newId, readOutput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import type { Context } from "hono";
import { asToolError } from "../calls/as-tool-error.ts";
import { type InvokeOptions, keyOwner, type OperatorCall } from "../calls/invoke.ts";
import type { GatewayEnv } from "../door/guard.ts";
import { readChatBody } from "../http/read-body.ts";
import { sendStream } from "../http/send-stream.ts";
import { EVENT_STREAM } from "../sessions/session-events.ts";
import type { SessionHub } from "../sessions/session-hub.ts";
import { answerChunks } from "./answer-chunks.ts";
import { readChatHeaders } from "./chat-headers.ts";
import { ChunkWriter, completionOf, eventText } from "./completion.ts";
import { answerOpenAiError, openAiErrorBody } from "./openai-error.ts";
import { readChatRequest } from "./read-chat-request.ts";
import type { TurnVisit } from "./running-turns.ts";
import { type Turn, TurnCalls } from "./turn-calls.ts";

export interface ChatCompletionsOptions extends Omit<InvokeOptions, "timeoutMs"> {
  /** Where streams hear what happens in a turn. */
  readonly sessions: SessionHub;
  /** How long a client may leave what it was sent unread. */
  readonly stallMs: number;
}

/** A turn that an operator asks for, as the caller of the request. */
export interface OperatorChat extends Pick<OperatorCall, "operator"> {
  /** The robot that answers. @default what the session was switched to, or the agent itself */
  readonly agent?: string | undefined;
}

const { name: toolName } = tools.agentChat;
/** A stream has a status of its own for what fails at once. It begins after so long. */
const HEAD_MS = 2_000;
/** The words of a turn that failed and its end come within this time. */
const TOGETHER_MS = 25;

/**
 * Answers `POST /v1/chat/completions` as OpenAI does: a turn of the agent, which is a call of its tool on behalf of the
 * request's caller.
 */
export function chatCompletions(caller: ToolCaller, options: ChatCompletionsOptions) {
  const { maxTimeoutMs, refusals, signal, log } = options;
  const turns = new TurnCalls(caller, options);

  return async (c: Context<GatewayEnv>, { operator, agent }: Partial<OperatorChat> = {}): Promise<Response> => {
    const by = c.get("caller");
    const receivedAt = performance.now();
    let call = { toolCallId: newId(), toolName };
    let isRead = false;
    try {
      const headers = readChatHeaders((name) => c.req.header(name), {
        timeoutMs: maxTimeoutMs,
        maxTimeoutMs,
        caller: keyOwner(by ?? caller.agent, operator) ?? by,
      });
      call = { toolCallId: headers.toolCallId, toolName };
      const read = readChatRequest(readChatBody(c.get("body"), c.env.incoming.headers), headers.sessionId);
      const request = agent === undefined ? read : { ...read, input: { ...read.input, agent } };
      if (headers.after !== undefined && !request.isStream)
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          "Cannot take the request: Last-Event-ID is for a stream, and the request asks for none",
        );
      isRead = true;
      const head = { toolCallId: headers.toolCallId, model: request.model, created: Math.floor(Date.now() / 1000) };
      const turn = { by, operator, headers, request };
      if (request.isStream) return await stream(c, turns, turn, new ChunkWriter(head, request.includeUsage), options);

      const visited = turns.visit(turn);
      leaveWith(c.env.outgoing, visited);
      const { output, isUntrusted } = readOutput(await visited.result);
      c.header("x-request-id", headers.toolCallId);
      return c.json(completionOf(head, output, isUntrusted));
    } catch (error) {
      const toolError = asToolError(error, toolName, { caller, isSent: true, signal, log });
      if (!isRead)
        await refusals?.call({
          ...call,
          caller: by ?? caller.agent,
          operator,
          args: undefined,
          error: toolError,
          receivedAt,
        });
      return answerOpenAiError(c, toolError, call);
    }
  };
}

/** @throws {ToolError} if the turn fails before the stream has begun */
async function stream(
  c: Context<GatewayEnv>,
  turns: TurnCalls,
  turn: Turn,
  writer: ChunkWriter,
  { sessions, stallMs, keepAliveMs, headers }: ChatCompletionsOptions,
): Promise<Response> {
  const { outgoing } = c.env;
  const { toolCallId, sessionId, after = 0, hasKey } = turn.headers;
  using listener = await sessions.listen(turn.by, sessionId ?? toolCallId);
  // A turn with a key may have begun. Without its log it is told of from when it is heard; if the agent is away, the
  // turn says why.
  const known = hasKey ? [...(await listener.readOn().catch(() => []))] : [];
  if (!hasKey) listener.startWith(toolCallId);
  const visited = turns.visit(turn);
  leaveWith(outgoing, visited);
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const settled = new AbortController();
  visited.result.catch(() => {}).finally(() => settled.abort());
  const begins = AbortSignal.any([gone.signal, settled.signal, AbortSignal.timeout(HEAD_MS)]);
  const has = (...kinds: string[]) => known.some(({ turnId, kind }) => turnId === toolCallId && kinds.includes(kind));
  const isUndecided = () => !has("text", "tool_started") || has("turn_finished"); // whose result follows
  while (!begins.aborted && isUndecided()) {
    await listener.wait(HEAD_MS, begins);
    await pause(TOGETHER_MS, begins);
    known.push(...(await listener.take()));
  }
  if (settled.signal.aborted) readOutput(await visited.result);

  const failure = (error: unknown): string => eventText(openAiErrorBody(error as ToolError, { toolCallId, toolName }));
  const chunks = answerChunks(writer, {
    turnId: toolCallId,
    result: visited.result,
    listener,
    known,
    after,
    keepAliveMs,
    signal: gone.signal,
    failure,
  });
  const response = new Response(ReadableStream.from(chunks), {
    headers: { ...EVENT_STREAM, "x-request-id": toolCallId },
  });
  await sendStream(outgoing, response, { headers, stallMs, onStall: () => c.get("visit").awaitReader() });
  return RESPONSE_ALREADY_SENT;
}

/** The turn loses its client when the connection closes before the answer was complete. */
function leaveWith(outgoing: GatewayEnv["Bindings"]["outgoing"], visited: TurnVisit): void {
  const leave = () => {
    if (!outgoing.writableFinished)
      visited.leave(new ToolError(ToolErrorCode.Cancelled, "Cannot finish the turn: the client closed the connection"));
  };
  outgoing.once("close", leave);
  if (outgoing.closed) leave();
}
